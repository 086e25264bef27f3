import type { Model, Query } from 'mongoose';
import { idsBeginAt } from '../../domain/basics/ids.js';
import type { ResourceKind } from '../../domain/change/change.js';
import { asDeclared } from '../mongo/declared.js';
import { inOnePass } from '../mongo/in-order.js';
import { type ChangeDocument, changes } from './change-document.js';
import type { ChangeSeal, LoggableChange } from './change-seal.js';

/** The version that a resource has now. */
export interface CurrentVersion {
  accountId: string;
  /** Kind and id. */
  resource: string;
  /** When it got this version. */
  at: Date;
}

/** A resource as it is now. */
export interface CurrentResource extends CurrentVersion {
  /** As changes show it. @throws if its document is not one that Hookline writes */
  show(): object;
}

/** A change as a step from one version of its resource to the next. */
export interface ChangeStep extends CurrentVersion {
  id: string;
  /** When the resource got the version before; absent for its first, and for acts. */
  beforeAt: Date | undefined;
}

/** Repository of the resources of one kind. */
export interface RecordedResources {
  /** Moves the changes that are still in their documents. */
  collect(accountId?: string): Promise<void>;
  /** Those that there are, of all accounts. */
  all(): AsyncIterable<CurrentResource>;
}

/** Looks at all changes, of all accounts, each in one pass. */
export class ChangeAudit {
  private readonly model: Model<ChangeDocument>;
  private readonly seal: ChangeSeal;
  private readonly kinds: ReadonlyMap<ResourceKind, RecordedResources>;

  constructor(
    model: Model<ChangeDocument>,
    seal: ChangeSeal,
    kinds: ReadonlyMap<ResourceKind, RecordedResources>,
  ) {
    this.model = model;
    this.seal = seal;
    this.kinds = kinds;
  }

  /**
   * Changes with what the log is to know of them, some at once.
   *
   * @param leaves only those that say they have these numbers in the log; absent: all
   */
  changes(leaves?: readonly number[]): AsyncIterable<LoggableChange[]> {
    return this.loggable(this.model.find(leaves ? { leaf_index: { $in: [...leaves] } } : {}));
  }

  /** Those that say that the log does not have them, likewise, oldest first. */
  unlogged(): AsyncIterable<LoggableChange[]> {
    return this.loggable(this.model.find({ in_log: { $in: [false, null] } }).sort({ _id: 1 }));
  }

  /** Those that were made since a time and say that the log has them, or something else of it, likewise. */
  loggedSince(since: Date): AsyncIterable<LoggableChange[]> {
    const _id = { $gt: idsBeginAt('change', since.getTime()) };
    return this.loggable(this.model.find({ _id, in_log: { $nin: [false, null] } }));
  }

  private async *loggable(query: Query<unknown, ChangeDocument>): AsyncIterable<LoggableChange[]> {
    for await (const some of inOnePass(query)) yield some.map((document) => this.seal.loggable(document));
  }

  /** Tags again what an older key than the newest tagged. @returns how many */
  retagAll(): Promise<number> {
    return this.seal.retagAll(this.model);
  }

  /** Changes as steps. */
  async *steps(): AsyncIterable<ChangeStep> {
    const found = this.model.find({}, { account_id: 1, resource: 1, at: 1, before_at: 1 });
    for await (const some of inOnePass(found))
      for (const stored of some) {
        const { _id: id, account_id, resource, at, before_at } = asDeclared(changes.fields, stored).document;
        yield { id, accountId: account_id, resource, at, beforeAt: before_at ?? undefined };
      }
  }

  /** State of a resource from a version on, as the change that made it says; `undefined` if no valid one does. */
  async stateOf({ accountId, resource, at }: CurrentVersion): Promise<object | undefined> {
    const found = await this.model.findOne({ account_id: accountId, resource, at }).lean<ChangeDocument>();
    const isRight = found?.after && this.seal.whatIsWrong(found) === undefined;
    return isRight ? (JSON.parse(found.after ?? '') as object) : undefined;
  }

  /** Whether there is a change that gave a resource its version of a time. */
  async hasStep({ accountId, resource, at }: CurrentVersion): Promise<boolean> {
    return (await this.model.exists({ account_id: accountId, resource, at })) !== null;
  }

  /** The resources that there are. */
  async *resources(): AsyncIterable<CurrentResource> {
    for (const resources of this.kinds.values()) yield* resources.all();
  }
}
