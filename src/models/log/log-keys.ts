import type { Connection } from 'mongoose';
import { newSigningKey } from '../../../packages/tlog/src/index.js';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { boxOr, resealEach } from '../mongo/reseal.js';

const keys = collection('log_keys', { _id: must(String), sealed: must(String) }, BY_MAJORITY);
const KEY = 'signing';
/** The context of the sealed key. */
const CONTEXT = 'log:signing-key';

/**
 * The key that signs checkpoints, for an installation whose settings name none: made at the first need, and encrypted.
 */
export class LogKeyRepository extends repositoryOf(keys) {
  private readonly hasBox: boolean;
  private readonly box: () => SecretBox;

  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.hasBox = box !== undefined;
    this.box = boxOr(box, 'the key of the log cannot be read without HOOKLINE_SECRET_KEYS');
  }

  /** The key, as `readSigningKey` reads it. @param name of the log, should there be no key yet */
  async obtain(name: string): Promise<string> {
    const box = this.box();
    const known = await this.model.findOne({ _id: KEY }).lean();
    if (known) return box.open(known.sealed, CONTEXT);
    const key = newSigningKey(name);
    const isFirst = await wasMade(this.model.create({ _id: KEY, sealed: box.seal(key, CONTEXT) }));
    return isFirst ? key : this.obtain(name);
  }

  /** The key, if one has been made. */
  async find(): Promise<string | undefined> {
    const known = this.hasBox && (await this.model.findOne({ _id: KEY }).lean());
    return known ? this.box().open(known.sealed, CONTEXT) : undefined;
  }

  /** Encrypts the key with the newest secret key. @returns how many were encrypted again */
  resealAll(): Promise<number> {
    return resealEach(this.model, this.box(), () => CONTEXT);
  }
}
