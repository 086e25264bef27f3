import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import type { KeptReplay, ReplayEnd } from '../../domain/replay/replay.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { AccountLocks } from '../access/account-locks.js';
import { collection, type DocumentIn, may, must } from '../mongo/collection.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { Tags, textOf } from '../mongo/tags.js';

/** Sorts behind the digits of a time where the last comes first. */
const OPEN = '~';

const replays = collection(
  'replays',
  {
    _id: must(String),
    account_id: must(String),
    /** Place in lists, whose order is the reverse of this text's: open ones first, then the latest closed. */
    position: must(String),
    /** JSON of the definition and of the input. */
    text: must(String),
    /** JSON of the end; absent while it is open. */
    end: may(String),
    tag: must(String),
    expires_at: may(Date, { expires: 0 }),
  },
  { indexes: [{ account_id: 1, position: -1 }] },
);
type ReplayDocument = DocumentIn<typeof replays>;

/**
 * Replays: what was asked for, and how it ended. How far an open one is, its execution knows. They are kept after their
 * end for as long as changes are.
 */
export class ReplayRepository {
  private readonly model: Model<ReplayDocument>;
  private readonly locks: AccountLocks;
  private readonly tags: Tags<ReplayDocument>;
  private readonly keptMs: number;

  constructor(connection: Connection, locks: AccountLocks, keptDays: number, box: SecretBox | undefined) {
    this.model = replays(connection);
    this.locks = locks;
    this.tags = new Tags(box, 'replay', replays, contentOfReplay);
    this.keptMs = keptDays * UNITS.d;
  }

  /** Does something while no process starts a replay of the account. */
  alone<T>(accountId: string, act: () => Promise<T>): Promise<T> {
    return this.locks.hold(accountId, 'replays', act);
  }

  /** Keeps a replay that is to be started. The first one with an id stays. */
  async add({ id, account_id, definition, input }: KeptReplay): Promise<void> {
    const text = JSON.stringify({ definition, input });
    const fields = { _id: id, account_id, position: OPEN + id, text };
    await insertMissing<ReplayDocument>(this.model, [{ ...fields, tag: this.tags.tag(fields) }]);
  }

  /** Keeps the end of a replay. The first one stays. */
  async end(accountId: string, id: string, end: ReplayEnd): Promise<void> {
    const found = await this.model.findOne({ _id: id, account_id: accountId }).lean<ReplayDocument>();
    if (!found || found.end) return;
    this.tags.check(found);
    const ended = { end: JSON.stringify(end), position: `${end.closed_at} ${id}` };
    const tag = this.tags.tag({ ...found, ...ended });
    const expires_at = new Date(sharedNow() + this.keptMs);
    await this.model.updateOne({ _id: id, tag: found.tag }, { $set: { ...ended, tag, expires_at } });
  }

  /** A replay of an account. @throws RecordAlteredError */
  async get(accountId: string, id: string): Promise<KeptReplay | undefined> {
    const found = await this.model.findOne({ _id: id, account_id: accountId }).lean<ReplayDocument>();
    return found ? this.toReplay(found) : undefined;
  }

  /** Replays of an account below a position, with their positions: open ones first, then the latest closed. */
  async page(
    accountId: string,
    below: string | undefined,
    limit: number,
  ): Promise<{ position: string; replay: KeptReplay }[]> {
    const found = await this.model
      .find({ account_id: accountId, ...(below !== undefined && { position: { $lt: below } }) })
      .sort({ position: -1 })
      .limit(limit)
      .lean<ReplayDocument[]>();
    return found.map((document) => ({ replay: this.toReplay(document), position: document.position }));
  }

  /** Replays of an account whose end is not kept yet. */
  async open(accountId: string): Promise<KeptReplay[]> {
    const found = await this.model
      .find({ account_id: accountId, position: { $gte: OPEN } })
      .lean<ReplayDocument[]>();
    return found.map((document) => this.toReplay(document));
  }

  /** Tags again what an older key tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.tags.retagEach(this.model);
  }

  private toReplay(document: ReplayDocument): KeptReplay {
    const { _id: id, account_id, text, end } = this.tags.check(document);
    return { id, account_id, ...JSON.parse(text), ...(end && { end: JSON.parse(end) }) };
  }
}

/** Text that the tag of a replay covers. */
export function contentOfReplay(replay: Omit<ReplayDocument, 'tag' | 'expires_at'>): string {
  const { _id, account_id, position, text, end } = replay;
  return textOf([_id, account_id, position, text, end]);
}
