import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { madeOnce, roomFor } from '../../domain/basics/bounded-memory.js';
import { type BusinessKey, keyToken } from '../../domain/event/business-keys.js';
import { orderToken } from '../../domain/event/order-key.js';
import { subjectToken } from '../../domain/event/subject.js';
import { collection, must, repositoryOf } from '../mongo/collection.js';
import { wasMade } from '../mongo/duplicate-key.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { boxOr, resealEach } from '../mongo/reseal.js';

const secrets = collection(
  'key_secrets',
  {
    /** The account's id. */
    _id: must(String),
    sealed: must(String),
  },
  BY_MAJORITY,
);

/**
 * The secrets that accounts' business keys and subjects are hashed with: made when an account's first key is, and kept
 * as long as its events are.
 */
export class KeySecretRepository extends repositoryOf(secrets) {
  private readonly box: () => SecretBox;
  /** Secrets by account. They never change. */
  private readonly secrets = new LRUCache<string, Promise<KeyObject>>(roomFor(10_000));

  /** @param box seals the secrets; absent in a process that has nothing to do with events */
  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.box = boxOr(box, 'Business keys cannot be hashed without HOOKLINE_SECRET_KEYS.');
  }

  /** The tokens of an account's business keys, each once. Without keys it costs nothing. */
  async tokensOf(accountId: string, keys: readonly BusinessKey[]): Promise<string[]> {
    if (keys.length === 0) return [];
    const secret = await this.secretOf(accountId);
    return [...new Set(keys.map((key) => keyToken(secret, key)))];
  }

  /** Accounts that have had a business key, by id, after the one named: no other has an event that is found by one. */
  async accounts(limit: number, after?: string): Promise<string[]> {
    const found = await this.model
      .find(after === undefined ? {} : { _id: { $gt: after } }, { _id: 1 })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    return found.map(({ _id }) => _id);
  }

  /** The token of a subject of an account. */
  async subjectToken(accountId: string, subject: string): Promise<string> {
    return subjectToken(await this.secretOf(accountId), subject);
  }

  /** The token of an order key of an account. */
  async orderToken(accountId: string, key: string): Promise<string> {
    return orderToken(await this.secretOf(accountId), key);
  }

  /** Seals again every secret that an older key sealed. @returns how many that were */
  resealAll(): Promise<number> {
    return resealEach(this.model, this.box(), ({ _id }) => contextOf(_id));
  }

  private secretOf(accountId: string): Promise<KeyObject> {
    return madeOnce(this.secrets, accountId, () => this.load(accountId));
  }

  private async load(accountId: string): Promise<KeyObject> {
    const box = this.box();
    const context = contextOf(accountId);
    const known = await this.model.findById(accountId).lean();
    if (known) return createSecretKey(box.open(known.sealed, context), 'base64url');
    const secret = randomBytes(32);
    const sealed = box.seal(secret.toString('base64url'), context);
    // Otherwise another process was faster.
    const isFirst = await wasMade(this.model.create({ _id: accountId, sealed }));
    return isFirst ? createSecretKey(secret) : this.load(accountId);
  }
}

function contextOf(accountId: string): string {
  return `${accountId}:business-keys`;
}
