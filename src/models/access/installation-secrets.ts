import { randomBytes } from 'node:crypto';
import { type Connection, type Model, Schema } from 'mongoose';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { BY_MAJORITY } from '../mongo/durability.js';

interface SecretDocument {
  _id: string;
  value: string;
}

const schema = new Schema<SecretDocument>(
  { _id: String, value: { type: String, required: true } },
  { versionKey: false, ...BY_MAJORITY },
);

/** Secrets that all processes of an installation share and no person needs to know. */
export class InstallationSecretRepository {
  private readonly model: Model<SecretDocument>;

  constructor(connection: Connection) {
    this.model = connection.model<SecretDocument>('installation_secret', schema, 'installation_secrets');
  }

  /** The secret of that name: 256 random bits, made at the first request for it. */
  async get(name: string): Promise<string> {
    const known = await this.model.findById(name).lean();
    if (known) return known.value;
    try {
      const value = randomBytes(32).toString('base64url');
      await this.model.create({ _id: name, value });
      return value;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.get(name);
    }
  }
}
