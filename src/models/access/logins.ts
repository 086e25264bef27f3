import { type Connection, Schema } from 'mongoose';
import type { Scope } from '../../domain/access/api-key.js';
import { profileOfSubject, subjectOf } from '../../domain/access/subject.js';
import type { Origin } from '../../domain/change/change.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { type RecordedFields, recordedFields } from '../change/recorded-fields.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

/** How the person of a profile logs in, and what they may allow an OAuth client. */
export interface Login {
  account_id: string;
  profile_id: string;
  login_name: string;
  scopes: Scope[];
}

/** A login with the hash that a password is compared with. */
export interface StoredLogin extends Login {
  password_hash: string;
  /** The subject of what is granted with this login. It changes with the password. */
  subject: string;
}

interface LoginDocument extends Login, RecordedFields {
  /** Account and login name. */
  _id: string;
  password_hash: string;
}

const schema = new Schema<LoginDocument>(
  {
    _id: String,
    account_id: { type: String, required: true },
    profile_id: { type: String, required: true },
    login_name: { type: String, required: true },
    scopes: { type: [String], required: true },
    password_hash: { type: String, required: true },
    ...recordedFields,
  },
  { versionKey: false },
);
schema.index({ profile_id: 1 }, { unique: true });

export class LoginRepository {
  private readonly documents: Recorded<LoginDocument>;

  constructor(connection: Connection, changes: ChangeRepository) {
    const model = connection.model<LoginDocument>('login', schema, 'logins');
    this.documents = new Recorded(model, changes, {
      kind: 'login',
      idOf: ({ profile_id }) => profile_id,
      accountField: 'account_id',
      show: (document) => ({ ...toLogin(document) }),
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
    try {
      await this.documents.create({ ...fields, _id }, origin);
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
    return true;
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
  async delete(accountId: string, profileId: string, origin: Origin): Promise<boolean> {
    const deleted = await this.documents.delete({ account_id: accountId, profile_id: profileId }, origin);
    return deleted !== undefined;
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
