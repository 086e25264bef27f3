import { inParts } from '../../../domain/basics/bounded-memory.js';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import type { Begun } from '../../../domain/delivery/attempt-order.js';
import type { NamedEvent } from '../../../domain/delivery/delivery.js';
import type { EventStore, StoredEvent, StoredTarget } from '../../../domain/delivery/stored-event.js';
import type { RowSearch } from '../../../domain/records/row-search.js';
import type { Unstarted } from './unstarted.js';

/** Events that are looked for together. */
const LOOKED_FOR_AT_ONCE = 1_000;

/** Deliveries of a stored event, some or all of them, and who may have begun their first attempts. */
export interface StoredPart {
  event: NamedEvent;
  targets: readonly StoredTarget[];
  begun: Begun | undefined;
}

/** Starts deliveries of stored events. Executions that have been started are not started twice. */
export interface PartStarter {
  /** Gives an event that is stored its place in the feed. */
  inFeed(event: NamedEvent): Promise<unknown>;
  /** Each in an execution of its own. */
  startAlone(part: StoredPart): Promise<void>;
  /** Those of an event as its acceptance would have started them. */
  startEvent(part: StoredPart): Promise<void>;
  /** Those of several events in the group that carries them. */
  startGroup(parts: readonly StoredPart[], carrier: string): Promise<void>;
}

/**
 * Starts of events that are stored, and of which nobody knows whether they have been started: their insert did not say
 * how it ended, or their process has died.
 */
export class StoredStarts {
  private readonly store: EventStore;
  private readonly search: Pick<RowSearch, 'existing'>;
  private readonly unstarted: Unstarted;
  private readonly starter: PartStarter;

  constructor(
    store: EventStore,
    search: Pick<RowSearch, 'existing'>,
    unstarted: Unstarted,
    starter: PartStarter,
  ) {
    this.store = store;
    this.search = search;
    this.unstarted = unstarted;
    this.starter = starter;
  }

  /**
   * Starts what has not been started of an event.
   *
   * @param begun who may have begun their first attempts
   */
  async start({ event, targets, carriers }: StoredEvent, begun?: Begun): Promise<void> {
    if (targets.length > 0 && (await this.isBegun(event, targets))) return;
    const own = targets.filter(({ carrier }) => carrier === undefined);
    if (own.length === targets.length) return this.starter.startEvent({ event, targets, begun });
    if (own.length > 0) await this.starter.startAlone({ event, targets: own, begun });
    for (const carrier of carriers) await this.startCarrier(carrier, begun);
  }

  /** Looks for events of which it was not known whether they are stored, and starts those that are. */
  async settleDoubts(): Promise<void> {
    const { store, unstarted } = this;
    for (const doubted of inParts(unstarted.doubted(), LOOKED_FOR_AT_ONCE)) {
      const asked_at = performance.now();
      for (const id of await store.stored(doubted)) {
        const stored = await store.find(id);
        if (stored) await Promise.all([this.starter.inFeed(stored.event), this.start(stored)]);
        unstarted.settle(id);
      }
      for (const id of doubted) unstarted.notStored(id, asked_at);
    }
  }

  /** All of an event's deliveries have rows: their executions were started. Temporal may have removed them since. */
  private async isBegun({ event_id }: NamedEvent, targets: readonly StoredTarget[]): Promise<boolean> {
    const ids = targets.map(({ endpoint_id }) => deliveryId({ event_id, endpoint_id }));
    // If this cannot be determined, they are started: Temporal starts nothing twice while it has the execution.
    const begun = await this.search.existing(ids).catch(() => new Set());
    return begun.size === ids.length;
  }

  /** Starts a group with all that is stored as its own. */
  private async startCarrier(carrier: string, begun: Begun | undefined): Promise<void> {
    const carried = await this.store.carriedBy(carrier);
    const parts = carried.map(({ event, targets, carriers }) => {
      const index = carriers.indexOf(carrier);
      return { event, targets: targets.filter((target) => target.carrier === index), begun };
    });
    if (parts.some(({ targets }) => targets.length > 0)) await this.starter.startGroup(parts, carrier);
  }
}
