import type { Connection } from 'mongoose';
import type { Scope } from '../../domain/access/api-key.js';
import { profileOfSubject, subjectOf } from '../../domain/access/subject.js';
import type { Origin } from '../../domain/change/change.js';
import { recordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { collection, type DocumentIn, must } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';

const logins = collection('logins', {
  /** Account and login name. */
  _id: must(String),
  account_id: must(String),
  profile_id: must(String, { unique: true }),
  login_name: must(String),
  scopes: must<Scope[]>([String]),
  password_hash: must(String),
  ...recordedFields,
});
type LoginDocument = DocumentIn<typeof logins>;

/** How the person of a profile logs in, and what they may allow an OAuth client. */
export type Login = Pick<LoginDocument, 'account_id' | 'profile_id' | 'login_name' | 'scopes'>;

/** A login with the hash that a password is compared with. */
export interface StoredLogin extends Login {
  password_hash: string;
  /** The subject of what is granted with this login. It changes with the password. */
  subject: string;
}

export class LoginRepository {
  private readonly documents: Recorded<LoginDocument>;

  constructor(connection: Connection, changes: ChangeRepository) {
    this.documents = new Recorded(logins(connection), changes, {
      kind: 'login',
      idField: 'profile_id',
      show: toLogin,
    });
  }

  /** Gives a profile a login in place of the one it had. @returns false if another profile has that login name */
  async put(login: Login, passwordHash: string, origin: Origin): Promise<boolean> {
    const _id = keyOf(login.account_id, login.login_name);
    const fields = { ...login, password_hash: passwordHash };
    const { profile_id } = login;
    const holder = await this.documents.findOne({ _id });
    if (holder && holder.profile_id !== profile_id) return false;
    const changed = await this.documents.change({ _id, profile_id }, origin, (before) => ({
      action: 'updated',
      set: fields,
      secrets: before.password_hash === passwordHash ? [] : ['/password'],
    }));
    if (changed) return true;
    await this.documents.delete({ profile_id }, origin); // it had another name
    return wasMade(this.documents.create({ ...fields, _id }, origin));
  }

  /** The login of a name. */
  async find(accountId: string, loginName: string): Promise<StoredLogin | undefined> {
    const document = await this.documents.findOne({ _id: keyOf(accountId, loginName) });
    return document ? toStored(document) : undefined;
  }

  /** The login of a profile. */
  async ofProfile(accountId: string, profileId: string): Promise<StoredLogin | undefined> {
    const document = await this.documents.findOne({ profile_id: profileId });
    return document?.account_id === accountId ? toStored(document) : undefined;
  }

  /** The login that a subject came from; `undefined` after it was deleted or its password changed. */
  async ofSubject(subject: string): Promise<StoredLogin | undefined> {
    const document = await this.documents.findOne({ profile_id: profileOfSubject(subject) });
    const login = document ? toStored(document) : undefined;
    return login?.subject === subject ? login : undefined;
  }

  /** @returns whether there was one to remove */
  delete(accountId: string, profileId: string, origin: Origin): Promise<boolean> {
    return this.documents.delete({ account_id: accountId, profile_id: profileId }, origin);
  }
}

function toLogin({ account_id, profile_id, login_name, scopes }: LoginDocument): Login {
  return { account_id, profile_id, login_name, scopes };
}

function toStored(document: LoginDocument): StoredLogin {
  const { profile_id, password_hash } = document;
  return { ...toLogin(document), password_hash, subject: subjectOf(profile_id, password_hash) };
}

function keyOf(accountId: string, loginName: string): string {
  return `${accountId}:${loginName.toLowerCase()}`;
}
