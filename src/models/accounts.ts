import { type Connection, type Model, Schema } from 'mongoose';
import { newId } from '../domain/ids.js';

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

  constructor(connection: Connection) {
    this.model = connection.model<AccountDocument>('account', schema, 'accounts');
  }

  async create(name: string): Promise<Account> {
    const document = { _id: newId('account'), name, created_at: new Date() };
    await this.model.create(document);
    return { id: document._id, name, created_at: document.created_at.toISOString() };
  }
}
