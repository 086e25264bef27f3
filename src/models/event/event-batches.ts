import { type Connection, type Model, Schema } from 'mongoose';
import { UNITS } from '../../domain/basics/duration.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import { collection, must } from '../mongo/collection.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { insertMissing } from '../mongo/insert-missing.js';
import type { EventDocument, EventSeal } from './event-document.js';

/** How long a decision waits to be carried out while no process runs, milliseconds. */
const KEPT_MS = 30 * UNITS.d;
/** For how long a decision whose own write failed may still turn up, milliseconds. */
const DOUBTED_MS = 10 * UNITS.m;

const batches = collection('event_batches', {
  /** The first of its events. */
  _id: must(String),
  /** Events as they are stored, each with its tag. */
  events: must<EventDocument[]>([Schema.Types.Mixed]),
  expires_at: must(Date, { expires: 0 }),
});
type BatchDocument = { _id: string; events: readonly EventDocument[]; expires_at: Date };

/**
 * Events that are stored together or not at all, on a database without transactions. One document with all of them
 * decides: once it is stored they will be, by this process or by another one that finds it. It goes when they are.
 */
export class EventBatches {
  private readonly model: Model<BatchDocument>;
  private readonly events: Model<EventDocument>;
  private readonly seal: EventSeal;
  private doubtedUntil = 0;

  constructor(connection: Connection, events: Model<EventDocument>, seal: EventSeal) {
    this.model = batches(connection) as unknown as Model<BatchDocument>;
    this.events = events;
    this.seal = seal;
  }

  /** There may be decisions of this process that were not carried out. */
  get hasDoubts(): boolean {
    return performance.now() < this.doubtedUntil;
  }

  /** Decides that events are stored, and stores them. @param insert may be called by others at the same time */
  async decided<T>(events: readonly EventDocument[], insert: () => Promise<T>): Promise<T> {
    const [first] = events;
    if (!first || events.length === 1) return insert();
    const { _id } = first;
    const expires_at = new Date(sharedNow() + KEPT_MS);
    try {
      await insertMissing(this.model, [{ _id, events, expires_at }]);
      const inserted = await insert();
      // The rest will be seen to be started.
      await this.model.deleteOne({ _id }).catch(() => {});
      return inserted;
    } catch (error) {
      this.doubtedUntil = performance.now() + DOUBTED_MS;
      throw error;
    }
  }

  /** Carries out what is decided. A batch that was carried out is not done twice. */
  async complete(): Promise<void> {
    for await (const { _id, events } of this.model.find().setOptions(BY_MAJORITY).lean().cursor()) {
      const all: readonly unknown[] = Array.isArray(events) ? events : [];
      const believed = all.filter((one) => one && this.seal.whatIsWrong(one as EventDocument) === undefined);
      await insertMissing(this.events, believed as EventDocument[]);
      await this.model.deleteOne({ _id });
    }
  }
}
