import { type Connection, Schema } from 'mongoose';
import { newId } from '../../domain/basics/ids.js';
import type { Origin } from '../../domain/change/change.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { type RecordedFields, recordedFields } from '../change/recorded-fields.js';
import type { ProfileRepository } from './profiles.js';

/** A tenant. Everything belongs to one account, and no account sees what belongs to another. */
export interface Account {
  id: string;
  name: string;
  created_at: string;
}

interface AccountDocument extends RecordedFields {
  _id: string;
  name: string;
  created_at: Date;
}

const schema = new Schema<AccountDocument>(
  {
    _id: String,
    name: { type: String, required: true },
    created_at: { type: Date, required: true },
    ...recordedFields,
  },
  { versionKey: false },
);

export class AccountRepository {
  private readonly documents: Recorded<AccountDocument>;
  private readonly profiles: ProfileRepository;

  constructor(connection: Connection, profiles: ProfileRepository, changes: ChangeRepository) {
    const model = connection.model<AccountDocument>('account', schema, 'accounts');
    this.documents = new Recorded(model, changes, {
      kind: 'account',
      idOf: ({ _id }) => _id,
      accountField: '_id',
      show: (document) => ({ ...toAccount(document) }),
    });
    this.profiles = profiles;
  }

  /** Makes an account, with the profile that its own keys use. */
  async create(name: string, origin: Origin): Promise<Account> {
    const _id = newId('account');
    await this.profiles.createOwn(_id, name, origin);
    return toAccount(await this.documents.create({ _id, name, created_at: new Date() }, origin));
  }

  async get(accountId: string): Promise<Account | undefined> {
    const document = await this.documents.findOne({ _id: accountId });
    return document ? toAccount(document) : undefined;
  }

  /** Accounts, oldest first, after the one named. */
  async list(limit: number, after?: string): Promise<Account[]> {
    const documents = await this.documents
      .find(after === undefined ? {} : { _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return documents.map(toAccount);
  }
}

function toAccount({ _id, name, created_at }: Pick<AccountDocument, '_id' | 'name' | 'created_at'>): Account {
  return { id: _id, name, created_at: created_at.toISOString() };
}
