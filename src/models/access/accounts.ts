import { type Connection, type Model, Schema } from 'mongoose';
import { newId } from '../../domain/basics/ids.js';
import type { ProfileRepository } from './profiles.js';

/** A tenant: everything belongs to one, and no account sees another's. */
export interface Account {
  id: string;
  name: string;
  created_at: string;
}

interface AccountDocument {
  _id: string;
  name: string;
  created_at: Date;
}

const schema = new Schema<AccountDocument>(
  { _id: String, name: { type: String, required: true }, created_at: { type: Date, required: true } },
  { versionKey: false },
);

export class AccountRepository {
  private readonly model: Model<AccountDocument>;
  private readonly profiles: ProfileRepository;

  constructor(connection: Connection, profiles: ProfileRepository) {
    this.model = connection.model<AccountDocument>('account', schema, 'accounts');
    this.profiles = profiles;
  }

  /** Makes an account, with the profile that stands behind its own keys. */
  async create(name: string): Promise<Account> {
    const document = { _id: newId('account'), name, created_at: new Date() };
    await this.profiles.createOwn(document._id, name);
    await this.model.create(document);
    return toAccount(document);
  }

  async get(accountId: string): Promise<Account | undefined> {
    const document = await this.model.findById(accountId).lean();
    return document ? toAccount(document) : undefined;
  }

  /** Accounts, oldest first, after the one named. */
  async list(limit: number, after?: string): Promise<Account[]> {
    const documents = await this.model
      .find(after === undefined ? {} : { _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return documents.map(toAccount);
  }
}

function toAccount({ _id, name, created_at }: AccountDocument): Account {
  return { id: _id, name, created_at: created_at.toISOString() };
}
