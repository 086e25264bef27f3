import { type Connection, type Model, Schema } from 'mongoose';
import type { Scope } from '../../domain/access/api-key.js';
import { profileOfSubject, subjectOf } from '../../domain/access/subject.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';

/** How the person of a profile logs in, and what they may allow an OAuth client. */
export interface Login {
  account_id: string;
  profile_id: string;
  login_name: string;
  scopes: Scope[];
}

/** A login with what is compared when somebody logs in with it. */
export interface StoredLogin extends Login {
  password_hash: string;
  /** Whom what is granted with this login stands for; another one after each change of the password. */
  subject: string;
}

interface LoginDocument extends Login {
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
  },
  { versionKey: false },
);
schema.index({ profile_id: 1 }, { unique: true });

export class LoginRepository {
  private readonly model: Model<LoginDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<LoginDocument>('login', schema, 'logins');
  }

  /** Gives a profile a login, in place of the one it had. @returns false where another profile has that name */
  async put(login: Login, passwordHash: string): Promise<boolean> {
    const _id = keyOf(login.account_id, login.login_name);
    const document = { ...login, _id, password_hash: passwordHash };
    const holder = await this.model.findById(_id).lean();
    if (holder && holder.profile_id !== login.profile_id) return false;
    const before = await this.model.findOne({ profile_id: login.profile_id }).lean();
    if (before?._id === _id) {
      await this.model.updateOne({ _id }, document);
      return true;
    }
    if (before) await this.model.deleteOne({ _id: before._id });
    try {
      await this.model.create(document);
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
    return true;
  }

  /** The login of a name. */
  async find(accountId: string, loginName: string): Promise<StoredLogin | undefined> {
    const document = await this.model.findById(keyOf(accountId, loginName)).lean();
    return document ? toStored(document) : undefined;
  }

  /** The login of a profile. */
  async ofProfile(accountId: string, profileId: string): Promise<StoredLogin | undefined> {
    const document = await this.model.findOne({ profile_id: profileId }).lean();
    return document?.account_id === accountId ? toStored(document) : undefined;
  }

  /** The login that a subject came from; `undefined` after it was deleted or its password changed. */
  async ofSubject(subject: string): Promise<StoredLogin | undefined> {
    const document = await this.model.findOne({ profile_id: profileOfSubject(subject) }).lean();
    const login = document ? toStored(document) : undefined;
    return login?.subject === subject ? login : undefined;
  }

  /** @returns whether there was one */
  async delete(accountId: string, profileId: string): Promise<boolean> {
    const { deletedCount } = await this.model.deleteOne({ account_id: accountId, profile_id: profileId });
    return deletedCount > 0;
  }
}

function toStored(document: LoginDocument): StoredLogin {
  const { account_id, profile_id, login_name, scopes, password_hash } = document;
  const subject = subjectOf(profile_id, password_hash);
  return { account_id, profile_id, login_name, scopes, password_hash, subject };
}

function keyOf(accountId: string, loginName: string): string {
  return `${accountId}:${loginName.toLowerCase()}`;
}
