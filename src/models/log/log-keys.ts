import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { newSigningKey } from '../../domain/log/signed-note.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { resealEach } from '../mongo/reseal.js';
import { type LogKeyDocument, logKeySchema } from './log-documents.js';

const KEY = 'signing';
/** The context of the sealed key. */
const CONTEXT = 'log:signing-key';

/** The key that signs checkpoints, for an installation whose settings name none: made at the first need, and encrypted. */
export class LogKeyRepository {
  private readonly model: Model<LogKeyDocument>;
  private readonly box: SecretBox | undefined;

  constructor(connection: Connection, box: SecretBox | undefined) {
    this.model = connection.model<LogKeyDocument>('log_key', logKeySchema, 'log_keys');
    this.box = box;
  }

  /** The key, as `readSigningKey` reads it. @param name of the log, should there be no key yet */
  async obtain(name: string): Promise<string> {
    const box = this.requireBox();
    const known = await this.model.findOne({ _id: KEY }).lean();
    if (known) return box.open(known.sealed, CONTEXT);
    try {
      const key = newSigningKey(name);
      await this.model.create({ _id: KEY, sealed: box.seal(key, CONTEXT) });
      return key;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.obtain(name);
    }
  }

  /** The key, if one has been made. */
  async find(): Promise<string | undefined> {
    const known = this.box && (await this.model.findOne({ _id: KEY }).lean());
    return known ? this.requireBox().open(known.sealed, CONTEXT) : undefined;
  }

  /** Encrypts the key with the newest secret key. @returns how many were encrypted again */
  resealAll(): Promise<number> {
    return resealEach(this.model, this.requireBox(), () => CONTEXT);
  }

  private requireBox(): SecretBox {
    if (!this.box) throw new Error('the key of the log cannot be read without HOOKLINE_SECRET_KEYS');
    return this.box;
  }
}
