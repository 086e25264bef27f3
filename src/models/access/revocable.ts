import type { Model } from 'mongoose';
import type { Origin, ResourceKind } from '../../domain/change/change.js';
import type { RecordedFields } from '../change/change-document.js';
import type { ChangeRepository } from '../change/changes.js';
import { Recorded } from '../change/recorded.js';
import { ShortCache } from '../mongo/short-cache.js';

interface RevocableDocument extends RecordedFields {
  /** SHA-256 of the token: a look-up by the caller's token is one by `_id`. */
  _id: string;
  account_id: string;
  created_at: Date;
  revoked_at?: Date | null;
}

interface About<D, Shown> {
  kind: ResourceKind;
  /** Which field holds the id that people know it by. */
  idField: keyof D & string;
  shown(document: D): Shown;
  /** Absent: as it is shown. */
  inChanges?(document: D): object;
}

/**
 * Repository of proofs of who a caller is, of which only the hash of the token is stored. It can be revoked for good,
 * and stays in the list then.
 */
export abstract class RevocableRepository<D extends RevocableDocument, Shown extends object> {
  protected readonly model: Model<D>;
  protected readonly documents: Recorded<D>;
  /** Remembered proofs: a revoked one may still be accepted for as long as it is remembered. */
  private readonly cache: ShortCache<Shown | undefined>;
  private readonly about: About<D, Shown>;

  constructor(model: Model<D>, changes: ChangeRepository, lifetimeMs: number, about: About<D, Shown>) {
    const { kind, idField, shown, inChanges: show = shown } = about;
    this.model = model;
    this.cache = new ShortCache(lifetimeMs);
    this.about = about;
    this.documents = new Recorded(model, changes, { kind, idField, show });
  }

  /** The one with this token hash, even if it has expired or was revoked; `undefined` if there is none. */
  ofHash(hash: string): Promise<Shown | undefined> {
    return this.cache.get(hash, async () => {
      const document = await this.documents.findOne({ _id: hash });
      return document && this.about.shown(document);
    });
  }

  /** One of an account, even if it has ended; `undefined` if the account has none with that id. */
  async get(accountId: string, id: string): Promise<Shown | undefined> {
    const document = await this.documents.findOne({ account_id: accountId, [this.about.idField]: id });
    return document && this.about.shown(document);
  }

  /** Those of an account after the one named, oldest first, including those that have ended and are kept. */
  async list(accountId: string, limit: number, after?: string): Promise<Shown[]> {
    const { idField, shown } = this.about;
    return (await this.documents.page({ account_id: accountId }, limit, after, idField)).map(shown);
  }

  /**
   * Processes may accept it for two more seconds.
   *
   * @returns whether the account had one that was not revoked yet
   */
  async revoke(accountId: string, id: string, origin: Origin): Promise<boolean> {
    const filter = { account_id: accountId, [this.about.idField]: id };
    const revoked = await this.documents.change(filter, origin, ({ revoked_at }, now) =>
      revoked_at ? undefined : { action: 'revoked', set: { revoked_at: now } as Partial<D> },
    );
    if (!revoked) return false;
    this.cache.forget(revoked._id);
    return true;
  }

  /** Revokes all of an account. @returns how many */
  async revokeAll(accountId: string, origin: Origin): Promise<number> {
    const live = (await this.documents.find({ account_id: accountId, revoked_at: null }).lean()) as D[];
    let revoked = 0;
    for (const document of live)
      if (await this.revoke(accountId, String(document[this.about.idField]), origin)) revoked += 1;
    return revoked;
  }
}
