import { randomBytes } from 'node:crypto';
import type { Connection, Model } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { UNITS } from '../../domain/basics/duration.js';
import { derivedId, idsBeginAt, newId } from '../../domain/basics/ids.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import {
  type Change,
  type ChangeAction,
  type ChangeOutcome,
  type Origin,
  type ResourceKind,
  resourceName,
  type ShownResource,
} from '../../domain/change/change.js';
import type { SaltedChange } from '../../domain/records/record.js';
import type { RecordAlteredError } from '../../domain/records/record-altered.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import type { Timings } from '../../domain/timings.js';
import { noteInLog } from '../log/in-log.js';
import { withoutNulls } from '../mongo/collection.js';
import { inOrder } from '../mongo/in-order.js';
import { insertMissing } from '../mongo/insert-missing.js';
import { ChangeAudit, type RecordedResources } from './change-audit.js';
import { type ChangeDocument, changes, toSalted } from './change-document.js';
import { ChangeSeal, type LoggableChange } from './change-seal.js';
import { Outcomes } from './outcomes.js';

/** Random bytes of the salt of a record: as many as its commitment has. */
const SALT_BYTES = 32;

/** The longest that a caller waits until the outcome of its action is recorded, milliseconds: it is found out later. */
const OUTCOME_LIMIT_MS = 1_000;

/** Which changes are asked for. */
export interface ChangeFilter {
  /** Kind and id. */
  resource?: string | undefined;
  /** The author, or the person for whom an OAuth client acted. */
  actor?: string | undefined;
  action?: ChangeAction | undefined;
  outcome?: ChangeOutcome | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
}

/** State of a resource at some time, as far as its changes say. */
export type PastState =
  | { known: true; state: ShownResource }
  /** It did not exist: not yet, or no longer. */
  | { known: true; state: undefined }
  /** `since`: when the oldest change that is kept was made; absent if none is kept. */
  | { known: false; since?: Date };

type NewChange = Pick<ChangeDocument, 'account_id' | 'resource' | 'version' | 'action' | 'outcome'> &
  Pick<ChangeDocument, 'at' | 'before_at' | 'changed' | 'before' | 'after'>;

/** An act that is recorded before it is done. */
export interface AnnouncedAct {
  /** Id of the change. The act carries it, so that its outcome can be found. */
  id: string;
  /** When it was recorded, milliseconds since the epoch. */
  at: number;
  /** Records how it ended. It does not fail: what cannot be recorded now is found out later. */
  ended(outcome: ChangeOutcome): Promise<void>;
  /** Removes the record: there is nothing that the act could have been about. It does not fail, either. */
  withdrawn(): Promise<void>;
}

/** Changes with their authors. */
export class ChangeRepository {
  private readonly model: Model<ChangeDocument>;
  private readonly keptMs: number;
  private readonly seal: ChangeSeal;
  readonly outcomes: Outcomes;
  private readonly kinds = new Map<ResourceKind, RecordedResources>();
  /** All changes, for a search for altered ones. */
  readonly audit: ChangeAudit;

  /** @param box tags what is written; absent: the log does not take it */
  constructor(
    connection: Connection,
    keptDays: number,
    box: SecretBox | undefined,
    { acts_settle_ms }: Timings,
  ) {
    this.model = changes(connection);
    this.keptMs = keptDays * UNITS.d;
    this.seal = new ChangeSeal(box);
    this.outcomes = new Outcomes(this.model, this.seal, acts_settle_ms);
    this.audit = new ChangeAudit(this.model, this.seal, this.kinds);
  }

  /**
   * Changes of an account, newest first.
   *
   * @param before only those older than the change of this id
   * @throws RecordAlteredError for the first that was altered
   */
  async list(accountId: string, filter: ChangeFilter, limit: number, before?: string): Promise<Change[]> {
    const documents = await this.page(accountId, filter, limit, before);
    return documents.map((document) => this.seal.unaltered(document));
  }

  /** As {@link list}, of all accounts: for the operator alone. */
  async everywhere(
    filter: ChangeFilter,
    limit: number,
    before?: string,
  ): Promise<(Change & { account_id: string })[]> {
    const documents = await this.page(undefined, filter, limit, before);
    return documents.map((document) => ({
      account_id: document.account_id,
      ...this.seal.unaltered(document),
    }));
  }

  private async page(
    accountId: string | undefined,
    filter: ChangeFilter,
    limit: number,
    before: string | undefined,
  ): Promise<readonly ChangeDocument[]> {
    const { resource, actor, action, outcome, created_after, created_before } = filter;
    await this.collect(accountId, resource);
    const at = withoutNulls({ $gt: created_after, $lt: created_before });
    const documents = await this.model
      .find({
        ...withoutNulls({ account_id: accountId, resource }),
        ...(actor !== undefined && { [actor.startsWith('prof_') ? 'person' : 'actor']: actor }),
        ...withoutNulls({ action, outcome: outcome && { $in: STORED[outcome] } }),
        ...(Object.keys(at).length > 0 && { at }),
        ...(before !== undefined && { _id: { $lt: before } }),
      })
      .sort({ _id: -1 })
      .limit(limit)
      .lean<ChangeDocument[]>();
    return this.outcomes.settled(documents);
  }

  /**
   * Changes of an account that were made in a period, oldest first; in the place of one that was altered, the error.
   *
   * @param after only those newer than the change of this id
   */
  async *read(
    accountId: string,
    { from, to }: { from: Date; to: Date },
    after = '',
  ): AsyncIterable<SaltedChange | RecordAlteredError> {
    await this.collect(accountId);
    const end = idsBeginAt('change', to.getTime());
    const begin = idsBeginAt('change', from.getTime());
    const ofPeriod = (id: object) => this.model.find({ account_id: accountId, _id: { ...id, $lt: end } });
    // No id is as short as the beginning of ids is.
    for await (const some of inOrder(ofPeriod, after > begin ? after : begin))
      for (const stored of await this.outcomes.settled(some)) {
        const { document, altered } = this.seal.read(stored);
        yield altered ?? toSalted(document);
      }
  }

  /** A change of an account; `undefined` if there is none of that id. */
  async get(accountId: string, id: string): Promise<LoggableChange | undefined> {
    const document = await this.model.findOne({ _id: id }).lean<ChangeDocument>();
    if (document?.account_id !== accountId) return undefined;
    const [settled = document] = await this.outcomes.settled([document]);
    return this.seal.loggable(settled);
  }

  /** Records that the log has these changes. @param numbers of their records, by the ids of the changes */
  async logged(numbers: ReadonlyMap<string, number>): Promise<void> {
    await noteInLog(this.model, numbers);
  }

  /** State of a resource at a time. @throws RecordAlteredError if the change that tells it was altered */
  async stateAt(accountId: string, resource: string, time: Date): Promise<PastState> {
    await this.collect(accountId, resource);
    const ofResource = { account_id: accountId, resource };
    const last = await this.model
      .findOne({ ...ofResource, at: { $lte: time } })
      .sort({ at: -1 })
      .lean();
    if (last) return toState(this.seal.unaltered(last).after);
    const next = await this.model.findOne(ofResource).sort({ at: 1 }).lean();
    if (!next) return { known: false };
    const { before } = this.seal.unaltered(next);
    if (!before) return toState(undefined);
    // The one before is not kept any more, but this one says since when that was so.
    return next.before_at && next.before_at <= time
      ? toState(before)
      : { known: false, since: next.before_at ?? next.at };
  }

  /** Records something that is done elsewhere and not in MongoDB, before it is done. */
  async announce(
    origin: Origin,
    change: Omit<NewChange, 'at' | 'changed' | 'outcome'>,
  ): Promise<AnnouncedAct> {
    const now = sharedDate();
    const record = this.record(origin, { ...change, outcome: 'pending', at: now, changed: [] });
    await this.model.create(record);
    return {
      id: record._id,
      at: now.getTime(),
      ended: (outcome) => this.ended([record], [outcome]),
      withdrawn: async () => {
        await this.model.deleteOne({ _id: record._id, outcome: 'pending' }).catch(() => undefined);
      },
    };
  }

  /**
   * Records what a replay is about to do to deliveries. Repeated, it records nothing twice.
   *
   * @param done what is done to which delivery, by the delivery's id
   * @param at the same on every repeat
   * @returns records how it ended, by the delivery's id
   */
  async announceReplay(
    accountId: string,
    origin: Origin & { replay: string },
    done: ReadonlyMap<string, ChangeAction>,
    at: Date,
  ): Promise<(outcomes: ReadonlyMap<string, ChangeOutcome>) => Promise<void>> {
    const idOf = (deliveryId: string) => derivedId('change', at.getTime(), `${origin.replay} ${deliveryId}`);
    const records = [...done].map(([id, action]) => {
      const resource = resourceName('delivery', id);
      const act = { account_id: accountId, resource, action, outcome: 'pending' as const, at, changed: [] };
      return this.record(origin, act, idOf(id));
    });
    await insertMissing(this.model, records);
    // Those that were there have salts of their own.
    const ids = records.map(({ _id }) => _id);
    const acts = await this.model.find({ _id: { $in: ids } }).lean<ChangeDocument[]>();
    return (outcomes) => {
      const byId = new Map([...outcomes].map(([deliveryId, outcome]) => [idOf(deliveryId), outcome]));
      const ended = acts.filter(({ _id }) => byId.has(_id));
      return this.ended(
        ended,
        ended.map(({ _id }) => byId.get(_id) ?? 'unknown'),
      );
    };
  }

  private async ended(acts: readonly ChangeDocument[], outcomes: readonly ChangeOutcome[]): Promise<void> {
    await withTimeout(OUTCOME_LIMIT_MS, this.outcomes.ended(acts, outcomes)).catch(() => undefined);
  }

  /**
   * Moves the changes that a crash left in the documents of their resources.
   *
   * @param accountId whose changes alone are moved; absent: all
   * @param resource only of its kind
   */
  async collect(accountId?: string, resource?: string): Promise<void> {
    const kind = resource?.slice(0, resource.indexOf(':'));
    const asked = [...this.kinds].filter(([known]) => kind === undefined || kind === known);
    await Promise.all(asked.map(([, resources]) => resources.collect(accountId)));
  }

  /** For {@link Recorded} alone: what holds the resources of a kind. */
  recordOf(kind: ResourceKind, resources: RecordedResources): void {
    this.kinds.set(kind, resources);
  }

  /** For {@link Recorded} alone: a change as it is stored. */
  record(
    { actor, ...from }: Origin,
    change: NewChange,
    _id = newId('change', change.at.getTime()),
  ): ChangeDocument {
    const document: ChangeDocument = {
      _id,
      ...change,
      actor: actor.id,
      actor_type: actor.type,
      ...withoutNulls({ person: actor.person, actor_account: actor.account_id }),
      ...from,
      expires_at: new Date(change.at.getTime() + this.keptMs),
      salt: randomBytes(SALT_BYTES).toString('base64'),
      in_log: false,
    };
    const tag = this.seal.tag(document);
    return tag === undefined ? document : { ...document, tag };
  }

  /**
   * For {@link Recorded} alone: stores changes, those that are not stored yet. One that somebody has put into a
   * resource is stored as well: it is named there as any that was altered.
   *
   * @param given whatever stands in their place @returns those that were not altered, as they are stored
   */
  async keep(given: readonly ChangeDocument[]): Promise<ChangeDocument[]> {
    const documents = Array.isArray(given) ? given.filter((one) => typeof one?._id === 'string') : [];
    const ids = (await insertMissing(this.model, documents)).flatMap((at) => documents[at]?._id ?? []);
    const found = ids.length > 0 ? await this.model.find({ _id: { $in: ids } }).lean<ChangeDocument[]>() : [];
    const stored = new Map(found.map((document) => [document._id, document]));
    return documents
      .map((document) => stored.get(document._id) ?? document)
      .filter((document) => !this.seal.read(document).altered);
  }
}

/** How outcomes are stored. A change without one was done. */
const STORED: Record<ChangeOutcome, (ChangeOutcome | 'pending' | null)[]> = {
  done: ['done', null],
  refused: ['refused'],
  unknown: ['unknown', 'pending'],
};

function toState(state: ShownResource | undefined): PastState {
  return { known: true, state };
}
