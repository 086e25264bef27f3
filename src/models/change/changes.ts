import { randomBytes } from 'node:crypto';
import type { Connection, Model } from 'mongoose';
import type { SaltedChange } from '../../domain/archive/record.js';
import { derivedId, idsBeginAt, newId } from '../../domain/basics/ids.js';
import {
  type Change,
  type ChangeAction,
  type Origin,
  type ResourceKind,
  resourceName,
  type ShownResource,
} from '../../domain/change/change.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { together } from '../mongo/together.js';
import { type ChangeDocument, changeSchema, toChange, toSalted } from './change-document.js';

const DAY_MS = 24 * 3_600_000;

/** Random bytes of the salt of a record: as many as its commitment has. */
const SALT_BYTES = 32;

/** Changes that are read at once. */
const CHANGES_AT_ONCE = 200;

/** Which changes are asked for. */
export interface ChangeFilter {
  /** Kind and id. */
  resource?: string | undefined;
  /** Who, or for whom an OAuth client acted. */
  actor?: string | undefined;
  action?: ChangeAction | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** What a resource was at some time, as far as its changes say. */
export type PastState =
  | { known: true; state: ShownResource }
  /** It did not exist: not yet, or no longer. */
  | { known: true; state: undefined }
  /** `since`: when the oldest change that is kept was made; absent if none is kept. */
  | { known: false; since?: Date };

type NewChange = Omit<
  ChangeDocument,
  | '_id'
  | 'actor'
  | 'actor_type'
  | 'person'
  | 'actor_account'
  | 'address'
  | 'request_id'
  | 'reason'
  | 'replay'
  | 'caused_by'
  | 'expires_at'
  | 'salt'
>;

/** Moves the changes that are still in the documents of one kind of resource. */
type Collector = (accountId?: string) => Promise<void>;

/** Who changed what. */
export class ChangeRepository {
  private readonly model: Model<ChangeDocument>;
  private readonly keptMs: number;
  private readonly collectors = new Map<ResourceKind, Collector>();

  constructor(connection: Connection, keptDays: number) {
    this.model = connection.model<ChangeDocument>('change', changeSchema, 'changes');
    this.keptMs = keptDays * DAY_MS;
  }

  /** Changes of an account, newest first. @param before only those older than the change of this id */
  list(accountId: string, filter: ChangeFilter, limit: number, before?: string): Promise<Change[]> {
    return this.page(accountId, filter, limit, before).then((documents) => documents.map(toChange));
  }

  /** As {@link list}, of all accounts: for the operator alone. */
  async everywhere(
    filter: ChangeFilter,
    limit: number,
    before?: string,
  ): Promise<(Change & { account_id: string })[]> {
    const documents = await this.page(undefined, filter, limit, before);
    return documents.map((document) => ({ account_id: document.account_id, ...toChange(document) }));
  }

  private async page(
    accountId: string | undefined,
    filter: ChangeFilter,
    limit: number,
    before: string | undefined,
  ): Promise<ChangeDocument[]> {
    const { resource, actor, action, created_after, created_before } = filter;
    await this.collect(accountId, resource);
    const at = {
      ...(created_after && { $gt: created_after }),
      ...(created_before && { $lt: created_before }),
    };
    return this.model
      .find({
        ...(accountId !== undefined && { account_id: accountId }),
        ...(resource !== undefined && { resource }),
        ...(actor !== undefined && { [actor.startsWith('prof_') ? 'person' : 'actor']: actor }),
        ...(action !== undefined && { action }),
        ...(Object.keys(at).length > 0 && { at }),
        ...(before !== undefined && { _id: { $lt: before } }),
      })
      .sort({ _id: -1 })
      .limit(limit)
      .lean<ChangeDocument[]>();
  }

  /** Changes of an account that were made in a period, oldest first. @param after only those newer than the change of this id */
  async *read(
    accountId: string,
    { from, to }: { from: Date; to: Date },
    after = '',
  ): AsyncIterable<SaltedChange> {
    await this.collect(accountId);
    const end = idsBeginAt('change', to.getTime());
    const begin = idsBeginAt('change', from.getTime());
    // No id is as short as the beginning of ids is.
    let last = after > begin ? after : begin;
    for (;;) {
      const documents = await this.model
        .find({ account_id: accountId, _id: { $gt: last, $lt: end } })
        .sort({ _id: 1 })
        .limit(CHANGES_AT_ONCE)
        .lean();
      yield* documents.map(toSalted);
      const newest = documents.at(-1);
      if (!newest) return;
      last = newest._id;
    }
  }

  /** A change of an account, and its number in the log if that has it; `undefined` if there is none of that id. */
  async get(accountId: string, id: string): Promise<(SaltedChange & { leafIndex?: number }) | undefined> {
    const document = await this.model.findOne({ _id: id }).lean();
    if (document?.account_id !== accountId) return undefined;
    const { leaf_index: leafIndex } = document;
    return { ...toSalted(document), ...(typeof leafIndex === 'number' && { leafIndex }) };
  }

  /** Changes made before a time that the log does not have. */
  async unlogged(before: Date, limit: number): Promise<(SaltedChange & { accountId: string })[]> {
    const found = await this.model
      .find({ in_log: false, at: { $lt: before } })
      .limit(limit)
      .lean();
    return found.map((document) => ({ accountId: document.account_id, ...toSalted(document) }));
  }

  /**
   * Changes of all accounts that the log has, some at once, in one pass.
   *
   * @param leaves only those with these numbers; absent: all
   */
  async *recorded(
    leaves?: readonly number[],
  ): AsyncIterable<(SaltedChange & { accountId: string; leafIndex: number })[]> {
    const found = this.model
      .find(leaves ? { leaf_index: { $in: [...leaves] } } : { in_log: true })
      .lean<ChangeDocument[]>();
    for await (const some of together(found.cursor({ batchSize: CHANGES_AT_ONCE }), CHANGES_AT_ONCE))
      yield some.map((document) => ({
        accountId: document.account_id,
        ...toSalted(document),
        leafIndex: document.leaf_index ?? -1,
      }));
  }

  /** How many changes the log does not have yet. */
  unloggedCount(): Promise<number> {
    return this.model.countDocuments({ in_log: false });
  }

  /** Records that the log has these changes. @param numbers of their records, by the ids of the changes */
  async logged(numbers: ReadonlyMap<string, number>): Promise<void> {
    if (numbers.size === 0) return;
    await this.model.bulkWrite(
      [...numbers].map(([_id, leaf_index]) => ({
        updateOne: { filter: { _id }, update: { $set: { in_log: true, leaf_index } } },
      })),
      { ordered: false },
    );
  }

  /** What a resource was at a time. */
  async stateAt(accountId: string, resource: string, time: Date): Promise<PastState> {
    await this.collect(accountId, resource);
    const ofResource = { account_id: accountId, resource };
    const [last] = await this.model
      .find({ ...ofResource, at: { $lte: time } })
      .sort({ at: -1 })
      .limit(1)
      .lean();
    if (last) return toState(last.after);
    const [next] = await this.model.find(ofResource).sort({ at: 1 }).limit(1).lean();
    if (!next) return { known: false };
    if (!next.before) return toState(undefined);
    // The one before is not kept any more, but this one says since when that was so.
    return next.before_at && next.before_at <= time
      ? toState(next.before)
      : { known: false, since: next.before_at ?? next.at };
  }

  /**
   * Records something that is done elsewhere and not in MongoDB, before it is done.
   *
   * @returns takes the record back, if it was not done
   */
  async announce(origin: Origin, change: Omit<NewChange, 'at' | 'changed'>): Promise<() => Promise<void>> {
    const record = this.record(origin, { ...change, at: new Date(), changed: [] });
    await this.model.create(record);
    return async () => {
      await this.model.deleteOne({ _id: record._id });
    };
  }

  /**
   * Records what a replay is about to do to deliveries. Repeated, it records nothing twice.
   *
   * @param done what is done to which delivery, by the delivery's id
   * @param at the same on every repeat
   * @returns takes back the records of deliveries to which nothing was done
   */
  async announceReplay(
    accountId: string,
    origin: Origin & { replay: string },
    done: ReadonlyMap<string, ChangeAction>,
    at: Date,
  ): Promise<(deliveryIds: ReadonlySet<string>) => Promise<void>> {
    const idOf = (deliveryId: string) => derivedId('change', at.getTime(), `${origin.replay} ${deliveryId}`);
    const known = await this.model.find({ _id: { $in: [...done.keys()].map(idOf) } }, { _id: 1 }).lean();
    const recorded = new Set(known.map(({ _id }) => _id));
    const records = [...done].map(([id, action]) => ({
      ...this.record(origin, {
        account_id: accountId,
        resource: resourceName('delivery', id),
        action,
        at,
        changed: [],
      }),
      _id: idOf(id),
    }));
    await this.model.insertMany(records.filter(({ _id }) => !recorded.has(_id)));
    return async (ids) => {
      await this.model.deleteMany({ _id: { $in: [...ids].map(idOf) } });
    };
  }

  /**
   * Moves the changes that a crash left in the documents of their resources.
   *
   * @param accountId whose changes are needed now: what cannot be moved for others is no error then
   * @param resource only of its kind
   */
  async collect(accountId?: string, resource?: string): Promise<void> {
    const kind = resource?.slice(0, resource.indexOf(':'));
    const asked = [...this.collectors].filter(([known]) => kind === undefined || kind === known);
    await Promise.all(asked.map(([, collect]) => collect(accountId)));
  }

  /** For {@link Recorded} alone: where changes may have been left. */
  collectFrom(kind: ResourceKind, collector: Collector): void {
    this.collectors.set(kind, collector);
  }

  /** For {@link Recorded} alone: a change as it is stored. */
  record({ actor, ...from }: Origin, change: NewChange): ChangeDocument {
    return {
      _id: newId('change', change.at.getTime()),
      ...change,
      actor: actor.id,
      actor_type: actor.type,
      ...(actor.person !== undefined && { person: actor.person }),
      ...(actor.account_id !== undefined && { actor_account: actor.account_id }),
      ...from,
      expires_at: new Date(change.at.getTime() + this.keptMs),
      salt: randomBytes(SALT_BYTES).toString('base64'),
      in_log: false,
    };
  }

  /** For {@link Recorded} alone: stores changes, those that are not stored yet. */
  async keep(changes: readonly ChangeDocument[]): Promise<void> {
    for (const change of changes) {
      await this.model.create(change).catch((error: unknown) => {
        if (!isDuplicateKey(error)) throw error;
      });
    }
  }
}

function toState(text: string | null | undefined): PastState {
  return { known: true, state: text ? (JSON.parse(text) as ShownResource) : undefined };
}
