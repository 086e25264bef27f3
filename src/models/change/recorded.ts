import type { Model, UpdateQuery } from 'mongoose';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import {
  type ChangeAction,
  changedPointers,
  type Origin,
  type ResourceKind,
  resourceName,
  type ShownResource,
} from '../../domain/change/change.js';
import { sharedDate, sharedNow } from '../../domain/time/shared-time.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { inOnePass } from '../mongo/in-order.js';
import type { CurrentResource } from './change-audit.js';
import type { ChangeDocument, RecordedFields } from './change-document.js';
import type { ChangeRepository } from './changes.js';

/** Description of one collection, and of how it is shown in changes. */
interface Description<D> {
  kind: ResourceKind;
  /** Which field holds the id that people know it by; absent: `_id`. */
  idField?: keyof D & string;
  /** And which the account; absent: `account_id`. */
  accountField?: '_id';
  /** How it is shown: without secrets. */
  show(document: D): object;
  /**
   * Tells others of changes, which are as they were written. They stay in the document until this is done, by this
   * process or another one, so each is told at least once. @returns `false`: it cannot be done now
   */
  tell?(changes: readonly ChangeDocument[]): Promise<boolean>;
}

/** A change to make. */
export interface PlannedChange<D> {
  action: ChangeAction;
  /** Fields to set; those that are `null` or `undefined` are removed. */
  set: { [Name in keyof D]?: D[Name] | null | undefined };
  /** JSON Pointers of the secrets that it changes. */
  secrets?: string[];
}

/** Decision about a change, from the state before; `undefined`: nothing changes. `now`: the time of the new version. */
export type Decide<D> = (before: D, now: Date) => PlannedChange<D> | undefined;

type Filter = Record<string, unknown>;
type NewDocument<D> = Omit<D, keyof RecordedFields>;

/** Not deleted. */
const LIVE = { deleted_at: null };
/** Changes by others between reading a document and writing it, after which a change is given up. */
const MAX_CONFLICTS = 50;
/** Documents with changes that were left in them that are read at once: each may have many. */
const LEFT_AT_ONCE = 20;
/** Time that the author of a change waits until its record has been moved, milliseconds. */
const MOVE_LIMIT_MS = 1_000;

/**
 * The documents of resources whose every change is recorded: with the change, or the change does not happen.
 *
 * MongoDB may run without transactions, so the record goes into the resource's own document, by the same update that
 * changes it, and is moved to the collection of changes right after. Records left behind by a crash are moved later
 * ({@link ChangeRepository.collect}). A record has its id from the beginning, so that it is never there twice. See
 * docs/decisions/0015-changes.md.
 */
export class Recorded<D extends RecordedFields & { _id: string; created_at?: Date }> {
  private readonly model: Model<D>;
  private readonly changes: ChangeRepository;
  private readonly about: Description<D>;

  constructor(model: Model<D>, changes: ChangeRepository, about: Description<D>) {
    this.model = model;
    this.changes = changes;
    this.about = about;
    changes.recordOf(about.kind, {
      collect: (accountId) => this.recordLeftBehind(accountId),
      all: () => this.currentVersions(),
    });
  }

  /** The documents that meet a filter and are not deleted. */
  find(filter: Filter) {
    return this.model.find({ ...filter, ...LIVE });
  }

  /** One document, unless it is deleted. */
  async findOne(filter: Filter): Promise<D | undefined> {
    const document = (await this.model.findOne({ ...filter, ...LIVE }).lean()) as D | null;
    return document ?? undefined;
  }

  /**
   * Some documents that meet a filter, in the order of a field that no two of them share.
   *
   * @param after only those behind the one with this value
   */
  async page(filter: Filter, limit: number, after?: string, by = '_id'): Promise<D[]> {
    return (await this.find({ ...filter, ...(after !== undefined && { [by]: { $gt: after } }) })
      .sort({ [by]: 1 })
      .limit(limit)
      .lean()) as D[];
  }

  count(filter: Filter): Promise<number> {
    return this.model.countDocuments({ ...filter, ...LIVE });
  }

  /**
   * Makes a resource.
   *
   * @throws MongoServerError (code 11000) if there is one with its `_id`, or with the same in a unique index
   */
  async create(fields: NewDocument<D>, origin: Origin): Promise<D> {
    const { created_at: changed_at = sharedDate() } = fields as { created_at?: Date };
    const document = { ...fields, version: 1, changed_at } as unknown as D;
    const change = this.toRecord(origin, 'created', undefined, document, []);
    const stored = { ...document, unrecorded: [change], unrecorded_since: changed_at };
    try {
      await this.model.create(stored);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // The conflicting document may be deleted already, by a process that crashed before it removed it.
      await this.recordLeftBehind(this.accountOf(document));
      await this.model.create(stored);
    }
    await this.tryToMove(stored);
    return document;
  }

  /**
   * Changes a resource.
   *
   * @param decide what to change, from what it is; called again if somebody else changed it in between. `undefined`:
   * nothing
   * @returns what it is; `undefined` if there is no such resource, or nothing was decided
   */
  async change(filter: Filter, origin: Origin, decide: Decide<D>): Promise<D | undefined> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const before = await this.findOne(filter);
      if (!before) return undefined;
      const now = nextTime(before);
      const decision = decide(before, now);
      if (!decision) return undefined;
      const after = await this.write(before, now, origin, decision);
      if (after) return after;
    }
    throw this.tooMany();
  }

  /** Deletes a resource. @param allow called with what it is; `false` leaves it @returns whether it was there */
  async delete(filter: Filter, origin: Origin, allow: (before: D) => boolean = () => true): Promise<boolean> {
    const deleted = await this.change(filter, origin, (before, now) =>
      allow(before)
        ? { action: 'deleted', set: { deleted_at: now } as unknown as PlannedChange<D>['set'] }
        : undefined,
    );
    return deleted !== undefined;
  }

  /**
   * Moves the changes that a crash left in documents, and removes the documents that are deleted. There are hardly ever
   * any.
   *
   * @param accountId whose changes alone are moved; absent: all
   */
  private async recordLeftBehind(accountId?: string): Promise<void> {
    const ofAccount = accountId !== undefined && { [this.about.accountField ?? 'account_id']: accountId };
    const left = this.model.find({ unrecorded_since: { $gt: new Date(0) }, ...ofAccount } as Filter);
    const failures: unknown[] = [];
    for await (const document of left.lean().cursor({ batchSize: LEFT_AT_ONCE }))
      await this.move(document as D).catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  private async *currentVersions(): AsyncIterable<CurrentResource> {
    for await (const some of inOnePass<D>(this.model.find(LIVE as Filter)))
      for (const document of some) {
        const { changed_at: at } = document;
        const show = () => this.about.show(document);
        yield { accountId: this.accountOf(document), resource: this.nameOf(document), at, show };
      }
  }

  private async write(
    before: D,
    now: Date,
    origin: Origin,
    { action, set, secrets = [] }: PlannedChange<D>,
  ): Promise<D | undefined> {
    const changes = Object.entries({ ...set, version: before.version + 1, changed_at: now });
    const gone = new Set(changes.filter(([, value]) => value == null).map(([name]) => name));
    const kept = Object.fromEntries(changes.filter(([name]) => !gone.has(name)));
    const after = Object.fromEntries(
      Object.entries({ ...before, ...kept }).filter(([name]) => !gone.has(name)),
    ) as unknown as D;
    const change = this.toRecord(origin, action, before, after, secrets);
    const document = await this.model
      .findOneAndUpdate(
        { _id: before._id, version: before.version, ...LIVE },
        {
          $set: { ...kept, unrecorded_since: before.unrecorded_since ?? now },
          ...(gone.size > 0 && { $unset: Object.fromEntries([...gone].map((name) => [name, 1])) }),
          $push: { unrecorded: change },
        } as unknown as UpdateQuery<D>,
        { returnDocument: 'after' },
      )
      .lean();
    if (!document) return undefined;
    await this.tryToMove(document as D);
    return document as D;
  }

  /** The change is made and kept: its author need not know that the record could not be moved yet. */
  private async tryToMove(document: D): Promise<void> {
    await withTimeout(MOVE_LIMIT_MS, this.move(document)).catch(() => undefined);
  }

  /** Records the changes that are in documents without telling anybody of them. */
  async keepUntold(filter: Filter): Promise<void> {
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
      const document = await this.findOne(filter);
      if (!document?.unrecorded_since) return;
      await this.changes.keep(document.unrecorded ?? []);
      await this.takeOut(document);
    }
    throw this.tooMany();
  }

  /** Whether a change is in a document still, which is not deleted: it was not told of, or is being told of. */
  async isUntold(filter: Filter, change: string): Promise<boolean> {
    return (await this.findOne({ ...filter, 'unrecorded._id': change })) !== undefined;
  }

  private async move(document: D): Promise<void> {
    // Changes that were put into the document alone are told to nobody.
    const kept = await this.changes.keep(document.unrecorded ?? []);
    if (this.about.tell && !(await this.about.tell(kept))) return;
    await this.takeOut(document);
  }

  /** Takes changes that are recorded out of their document, or removes it if it is deleted. */
  private async takeOut({ _id, version, deleted_at }: D): Promise<void> {
    // Only of this version: otherwise another process has added a record since, and moves it.
    const same = { _id, version } as Filter;
    if (deleted_at) await this.model.deleteOne({ ...same, deleted_at });
    else await this.model.updateOne(same, { $unset: { unrecorded: 1, unrecorded_since: 1 } } as object);
  }

  private toRecord(
    origin: Origin,
    action: ChangeAction,
    before: D | undefined,
    after: D,
    secrets: readonly string[],
  ): ChangeDocument {
    const show = (document: D): ShownResource => ({ ...this.about.show(document) });
    const was = before && show(before);
    const is = after.deleted_at ? undefined : show(after);
    return this.changes.record(origin, {
      account_id: this.accountOf(after),
      resource: this.nameOf(after),
      version: after.version,
      action,
      at: after.changed_at,
      ...(before && { before_at: before.changed_at }),
      changed: was && is ? [...changedPointers(was, is), ...secrets] : [],
      ...(was && { before: JSON.stringify(was) }),
      ...(is && { after: JSON.stringify(is) }),
    });
  }

  private tooMany(): Error {
    return new Error(`The ${this.about.kind} is being changed by too many others at the same time.`);
  }

  private nameOf(document: D): string {
    return resourceName(this.about.kind, String(document[this.about.idField ?? '_id']));
  }

  private accountOf(document: D): string {
    return String((document as Filter)[this.about.accountField ?? 'account_id']);
  }
}

/** The time of a document's next version: now, but later than its last. */
function nextTime({ changed_at }: RecordedFields): Date {
  return new Date(Math.max(sharedNow(), changed_at.getTime() + 1));
}
