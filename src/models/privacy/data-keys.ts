import { createSecretKey } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import { type DataKey, newDataKey } from '../../domain/privacy/data-key.js';
import type { OpenRule } from '../../domain/privacy/erasure.js';
import type { DataKeys } from '../../domain/privacy/payload-sealer.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { collection, type DocumentIn, may, must, repositoryOf } from '../mongo/collection.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { boxOr, resealEach } from '../mongo/reseal.js';
import { Tags, textOf } from '../mongo/tags.js';

/** The data keys in a database. */
export const dataKeys = collection('data_keys', {
  /** The account's id, a colon and the subject's token; nothing after the colon for the account's own key. */
  _id: must(String),
  account_id: must(String),
  key_id: must(String, { index: true }),
  /** The key, wrapped. */
  sealed: must(String),
  created_at: must(Date),
  /** The erasures that delete it, by what they do with open deliveries. There is one for each rule. */
  cancel: may(String),
  finish: may(String),
});
type DataKeyDocument = DocumentIn<typeof dataKeys>;

/** Erased data keys: a key may be missing only if it is among these, any other was taken away. */
export const erasedKeys = collection('erased_data_keys', {
  /** The id of a key, or of an account, of which all keys were deleted. */
  _id: must(String),
  account_id: must(String),
  erased_at: must(Date),
  tag: must(String),
});
type ErasedKeyDocument = DocumentIn<typeof erasedKeys>;

/** Keys that are deleted at once. */
const KEYS_AT_ONCE = 500;

/** Stands for a key that is being deleted, as long as a wrapped key. */
export const OVERWRITTEN = '.'.repeat(160);

/** A data key without what it is. */
export type KeptKey = Pick<DataKeyDocument, 'key_id' | 'created_at'>;

/**
 * The data keys of accounts and subjects, wrapped by the newest of HOOKLINE_WRAPPING_KEYS, or of HOOKLINE_PAYLOAD_KEYS
 * or HOOKLINE_SECRET_KEYS without them. Payloads sealed by a deleted key cannot be read any more.
 */
export class DataKeyRepository extends repositoryOf(dataKeys) implements DataKeys {
  private readonly box: () => SecretBox;
  /** By document id, and by account and key id. Look-ups that found nothing are not remembered. */
  private readonly remembered: LRUCache<string, Promise<DataKey | undefined>>;

  private readonly erased: ReturnType<typeof erasedKeys>;
  private readonly tags: Tags<ErasedKeyDocument>;
  private readonly knownErased = new LRUCache<string, true>(roomFor(10_000));

  /**
   * @param box wraps the keys; absent in a process that has nothing to do with payloads
   * @param tagBox tags what was erased
   */
  constructor(
    connection: Connection,
    box: SecretBox | undefined,
    tagBox: SecretBox | undefined,
    { data_key_lifetime_ms }: Timings,
  ) {
    super(connection);
    this.erased = erasedKeys(connection);
    this.tags = new Tags(tagBox, 'erased data key', erasedKeys, contentOfErasedKey);
    this.remembered = new LRUCache({
      // For 10,000 keys.
      ...roomFor(20_000),
      ttl: data_key_lifetime_ms,
      ttlResolution: 0,
    });
    this.box = boxOr(box, 'Payloads cannot be sealed without HOOKLINE_SECRET_KEYS.');
  }

  async obtain(accountId: string, subject?: string): Promise<DataKey> {
    const id = documentId(accountId, subject);
    const key = await this.remember(id, async () => {
      const start = performance.now();
      const found = await this.upsert(id, accountId);
      // Payloads that it seals are opened soon. Both entries expire together.
      this.remembered.set(`${accountId} ${found.id}`, Promise.resolve(found), { start });
      return found;
    });
    if (!key) throw new Error('a data key that was to be made is not there');
    return key;
  }

  find(accountId: string, keyId: string): Promise<DataKey | undefined> {
    return this.remember(`${accountId} ${keyId}`, async () => {
      const document = await this.model.findOne({ key_id: keyId }).lean();
      return document?.account_id === accountId && document.sealed !== OVERWRITTEN
        ? this.unwrap(document)
        : undefined;
    });
  }

  /** The key of a subject, if there is one. @param subject token */
  async ofSubject(accountId: string, subject: string): Promise<KeptKey | undefined> {
    const document = await this.model.findById(documentId(accountId, subject)).lean();
    return document ? { key_id: document.key_id, created_at: document.created_at } : undefined;
  }

  /**
   * Claims a key for the erasure that is to delete it, so that of all who ask at the same time one has it. A request to
   * cancel open deliveries does not wait for an erasure that lets them end first.
   *
   * @returns the erasure that has claimed it, this or an earlier one; `undefined` if the key is gone
   */
  async claimErasure(
    accountId: string,
    keyId: string,
    erasureId: string,
    open: OpenRule,
  ): Promise<{ id: string; open: OpenRule } | undefined> {
    const filter = { key_id: keyId, account_id: accountId };
    await this.model.updateOne(
      { ...filter, cancel: null, ...(open === 'finish' && { finish: null }) },
      { $set: { [open]: erasureId } },
    );
    const key = await this.model.findOne(filter).lean();
    if (key?.cancel) return { id: key.cancel, open: 'cancel' };
    return key?.finish ? { id: key.finish, open: 'finish' } : undefined;
  }

  /** Whether there is a key. */
  async has(accountId: string, keyId: string): Promise<boolean> {
    return (await this.model.findOne({ key_id: keyId, account_id: accountId }).lean()) !== null;
  }

  /** Deletes a key. A repeat deletes nothing, not even a newer key of the same subject. */
  async erase(accountId: string, keyId: string): Promise<void> {
    const filter = { key_id: keyId, account_id: accountId };
    const document = await this.model.findOne(filter).lean();
    await this.noteErased(accountId, keyId);
    if (document) {
      // The wrapped key is overwritten first: a database file may keep the bytes of what was deleted for a while.
      await this.model.updateOne(filter, { $set: { sealed: OVERWRITTEN } });
      await this.model.deleteOne(filter);
      this.remembered.delete(document._id);
    }
    this.remembered.delete(`${accountId} ${keyId}`);
  }

  /** Deletes all keys of an account: its own, and those of its subjects. @returns how many there were */
  async eraseAll(accountId: string): Promise<number> {
    await this.noteErased(accountId, accountId);
    for (let erased = 0; ; ) {
      const keys = await this.model
        .find({ _id: { $gte: documentId(accountId), $lt: endOfIds(accountId) } })
        .limit(KEYS_AT_ONCE)
        .lean();
      if (keys.length === 0) return erased;
      const filter = { account_id: accountId, key_id: { $in: keys.map(({ key_id }) => key_id) } };
      await this.model.updateMany(filter, { $set: { sealed: OVERWRITTEN } });
      await this.model.deleteMany(filter);
      for (const { _id, key_id } of keys) {
        this.remembered.delete(_id);
        this.remembered.delete(`${accountId} ${key_id}`);
      }
      erased += keys.length;
    }
  }

  /** Whether a key of an account that is not there was deleted by an erasure, of its subject or of the account. */
  async wasErased(accountId: string, keyId: string): Promise<boolean> {
    const name = `${accountId} ${keyId}`;
    if (this.knownErased.has(name)) return true;
    const found = await this.erased.find({ _id: { $in: [keyId, accountId] } }).lean();
    const wasErased = found.some(
      (one) => one.account_id === accountId && this.tags.whatIsWrong(one) === undefined,
    );
    if (wasErased) this.knownErased.set(name, true);
    return wasErased;
  }

  /** Before it is deleted, and also if it is gone already, as after a restore. @param _id of the key, or the account */
  private async noteErased(account_id: string, _id: string): Promise<void> {
    const erased = { _id, account_id, erased_at: sharedDate() };
    await insertMissing(this.erased, [{ ...erased, tag: this.tags.tag(erased) }]);
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.erased);
  }

  /** Wraps every key again that an older key wrapped. @returns how many that were */
  resealAll(): Promise<number> {
    return resealEach(this.model, this.box(), (document) =>
      document.sealed === OVERWRITTEN ? undefined : contextOf(document),
    );
  }

  /** How many keys an older key wraps. */
  async countOutdated(): Promise<number> {
    const box = this.box();
    let count = 0;
    for await (const { sealed } of this.model.find({}, { sealed: 1 }).lean().cursor())
      if (sealed !== OVERWRITTEN && box.isOutdated(sealed)) count += 1;
    return count;
  }

  private remember(name: string, load: () => Promise<DataKey | undefined>): Promise<DataKey | undefined> {
    const known = this.remembered.get(name);
    if (known) return known;
    const loading = load();
    this.remembered.set(name, loading);
    const forget = () => {
      if (this.remembered.peek(name) === loading) this.remembered.delete(name);
    };
    loading.then((key) => key ?? forget(), forget);
    return loading;
  }

  private async upsert(_id: string, account_id: string): Promise<DataKey> {
    const { id: key_id, key } = newDataKey();
    const sealed = this.box().seal(key.export().toString('base64url'), contextOf({ account_id, key_id }));
    try {
      const document = await this.model
        .findOneAndUpdate(
          { _id },
          { $setOnInsert: { account_id, key_id, sealed, created_at: sharedDate() } },
          { upsert: true, returnDocument: 'after' },
        )
        .lean();
      if (document.key_id === key_id) return { id: key_id, key };
      if (document.sealed !== OVERWRITTEN) return this.unwrap(document);
      // The process that overwrote it was interrupted, or is about to delete it.
      await this.model.deleteOne({ _id, sealed: OVERWRITTEN });
      return this.upsert(_id, account_id);
    } catch (error) {
      // Another process was faster.
      if (!isDuplicateKey(error)) throw error;
      return this.upsert(_id, account_id);
    }
  }

  private unwrap(document: DataKeyDocument): DataKey {
    const key = this.box().open(document.sealed, contextOf(document));
    return { id: document.key_id, key: createSecretKey(key, 'base64url') };
  }
}

export function contentOfErasedKey({ _id, account_id, erased_at }: Omit<ErasedKeyDocument, 'tag'>): string {
  return textOf([_id, account_id, erased_at]);
}

function documentId(accountId: string, subject = ''): string {
  return `${accountId}:${subject}`;
}

/** Sorts behind all ids of the account's keys, and before those of others. */
function endOfIds(accountId: string): string {
  return `${accountId};`;
}

function contextOf({ account_id, key_id }: Pick<DataKeyDocument, 'account_id' | 'key_id'>): string {
  return `${account_id}:data-key:${key_id}`;
}
