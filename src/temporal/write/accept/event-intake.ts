import { inBatches } from '../../../domain/basics/batches.js';
import { inParts } from '../../../domain/basics/bounded-memory.js';
import { zip } from '../../../domain/basics/objects.js';
import { tryAgain } from '../../../domain/basics/try-again.js';
import { withTimeout } from '../../../domain/basics/with-timeout.js';
import type { AcceptedEvent, DeliveryTarget } from '../../../domain/delivery/delivery.js';
import { storableEvent } from '../../../domain/delivery/sealed-event.js';
import type {
  EventStore,
  KeptEvent,
  Once,
  StorableEvent,
  StoredTarget,
} from '../../../domain/delivery/stored-event.js';
import type { FailingMark } from '../../../domain/endpoint/breaker/circuit-breaker.js';
import { hostOf } from '../../../domain/ledger/summaries.js';
import type { OrderPlaces } from '../../../domain/order/delivery-order.js';
import type { PayloadSealer } from '../../../domain/privacy/payload-sealer.js';
import type { FeedOrder } from './feed-order.js';
import { PlaceIntake } from './place-intake.js';

/** Events that are inserted together, and the bytes of their payloads. */
const INSERTED_AT_ONCE = 120;
const INSERTED_BYTES = 4 * 1024 * 1024;

/**
 * While starts are behind, a producer is answered when its event's deliveries are started, or after so long,
 * milliseconds: so it sends no faster than they can be started.
 */
const SLOWED_MS = 1_000;

/** The caller's knowledge of an event, and of the endpoints that it goes to. */
export interface EventHints {
  /** Which of the endpoints are failing, by id. */
  failing?: ReadonlyMap<string, FailingMark>;
  /** The host of one of them. */
  hostOf?(endpointId: string): string | undefined;
  /** Token of the person that the event is about. */
  subject?: string | undefined;
}

/** Hints about an event from the endpoints that it may go to. @param subject token of the person that it is about */
export function hintsOf(
  endpoints: readonly { id: string; target_url: string; failing?: FailingMark }[],
  subject: string | undefined,
): EventHints {
  return {
    subject,
    failing: new Map(endpoints.flatMap(({ id, failing }) => (failing ? [[id, failing]] : []))),
    hostOf: (endpointId) => hostOf(endpoints.find(({ id }) => id === endpointId)?.target_url),
  };
}

/** An event that is offered, and where it goes. */
export interface Offer {
  event: AcceptedEvent;
  targets: readonly DeliveryTarget[];
  /** The request's idempotency key; absent: it has none, or the event's id is the same on every repeat. */
  once?: Once | undefined;
  hints?: EventHints;
}

/** Where the deliveries of an event will be started, before it is stored. */
export interface StartPlan {
  targets: readonly StoredTarget[];
  carriers: readonly string[];
  /**
   * The event is stored: starts its deliveries. Resolves when that is done, which may be long after.
   *
   * @param placed resolves when it has its place in the feed
   */
  stored(placed: Promise<void>): Promise<void>;
  /** The event is not stored, and will not be. */
  dropped(): void;
  /** Nobody knows whether it is stored. */
  unsure(): void;
}

/** Plans the starts of deliveries. */
export interface StartPlanner {
  /** Id of this process. */
  readonly id: string;
  /** Too many deliveries wait to be started: producers should slow down. */
  readonly isBehind: boolean;
  readonly feedOrder: Pick<FeedOrder, 'begin' | 'end' | 'stored'>;
  /** An event may be stored from now on: the process that looks after this one finds it, if this one dies. */
  offered(event: AcceptedEvent): Promise<void>;
  /** It has not been planned, and will not be. */
  withdrawn(event: AcceptedEvent): void;
  /** @throws LedgerBusyError if too much waits to be started */
  checkRoom(event: AcceptedEvent, deliveries: number): void;
  plan(event: AcceptedEvent, targets: readonly DeliveryTarget[], hints: EventHints): StartPlan;
}

export interface IntakeOptions {
  sealer: PayloadSealer;
  store: EventStore;
  /** Notes an event that is stored: attempts load its payload in a moment, and rows ask what it is. */
  remember(event: StorableEvent, payload: string): void;
  /** Places in the orders of endpoints. */
  places: Pick<OrderPlaces, 'take'>;
}

interface WaitingOffer extends Offer {
  storable: StorableEvent;
  resolve(kept: KeptEvent): void;
  reject(error: unknown): void;
}

/** An event that is about to be stored. */
interface Planned {
  waiting: WaitingOffer;
  plan: StartPlan;
}

type Insert = EventStore['insert'];

/**
 * Accepts events: each is a document before its producer is answered, and its deliveries are started after that.
 * Waiting events are inserted together, with one insert in flight, as a database commits waiting transactions together;
 * an event that finds it free is inserted alone.
 */
export class EventIntake {
  private readonly planner: StartPlanner;
  private readonly options: IntakeOptions;
  private readonly places: PlaceIntake;
  private readonly inserted = inBatches<WaitingOffer>(
    (batch) => this.insert(batch),
    (batch, { storable: { payload_bytes } }) =>
      batch.length < INSERTED_AT_ONCE && bytesOf(batch) + payload_bytes <= INSERTED_BYTES,
  );

  constructor(planner: StartPlanner, options: IntakeOptions) {
    this.planner = planner;
    this.options = options;
    this.places = new PlaceIntake(options.places);
  }

  /**
   * Accepts an event. It returns once the event is stored; its deliveries are started whatever becomes of this process.
   *
   * @returns the event that counts: another one if its idempotency key was used before
   * @throws LedgerBusyError if too much waits to be started; then the event is not stored
   */
  async accept(offer: Offer): Promise<KeptEvent> {
    return this.insertedAs(offer, await this.checked(offer));
  }

  /** Accepts each of some events by itself. They are stored, and take their places, in their order. */
  acceptEach(offers: readonly Offer[]): Promise<KeptEvent>[] {
    const prepared = offers.map((offer) => this.checked(offer));
    const all = Promise.allSettled(prepared);
    return zip(offers, prepared).map(async ([offer, one]) => {
      await all;
      return this.insertedAs(offer, await one);
    });
  }

  /**
   * Accepts all of some events, or none; in their order. They wait for no others.
   *
   * @throws LedgerBusyError if too much waits to be started; then none is stored
   */
  async acceptTogether(offers: readonly Offer[]): Promise<KeptEvent[]> {
    const prepared = await Promise.allSettled(
      offers.map(({ event, hints }) => this.prepared(event, hints?.subject)),
    );
    const storable = prepared.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const failed = prepared.find((one) => one.status === 'rejected');
    const planned: Planned[] = [];
    let kept: Promise<KeptEvent>[];
    try {
      if (failed) throw failed.reason;
      kept = offers.map((offer, index) => {
        const one = storable[index] as WaitingOffer['storable'];
        const plan = this.planner.plan(one.event, offer.targets, offer.hints ?? {});
        return new Promise((resolve, reject) => {
          planned.push({ waiting: { ...offer, storable: one, resolve, reject }, plan });
        });
      });
    } catch (error) {
      for (const { plan } of planned) plan.dropped();
      for (const { event } of offers) this.withdraw(event);
      throw error;
    }
    void this.write(planned, (events) => this.options.store.insertTogether(events));
    return Promise.all(kept);
  }

  /** Has the deliveries of events that were stored before take their places, as a repeat does. */
  async placed(kept: Iterable<Pick<KeptEvent, 'event_id' | 'targets'>>): Promise<void> {
    await Promise.all(Array.from(kept, (one) => this.places.take(one)));
  }

  private async checked({ event, targets, hints }: Offer): Promise<WaitingOffer['storable']> {
    this.planner.checkRoom(event, targets.length);
    return this.prepared(event, hints?.subject);
  }

  private insertedAs(offer: Offer, storable: WaitingOffer['storable']): Promise<KeptEvent> {
    return new Promise((resolve, reject) => {
      void this.inserted({ ...offer, storable, resolve, reject });
    });
  }

  private async prepared(event: AcceptedEvent, subject: string | undefined) {
    this.planner.feedOrder.begin(event.event_id);
    try {
      const [storable] = await Promise.all([
        storableEvent(this.options.sealer, event, subject),
        this.planner.offered(event),
      ]);
      return storable;
    } catch (error) {
      this.withdraw(event);
      throw error;
    }
  }

  private withdraw(event: AcceptedEvent): void {
    this.planner.feedOrder.end(event.event_id);
    this.planner.withdrawn(event);
  }

  private async insert(batch: readonly WaitingOffer[]): Promise<void> {
    const planned = batch.flatMap((waiting) => {
      const { storable, targets, hints = {}, reject } = waiting;
      try {
        return [{ waiting, plan: this.planner.plan(storable.event, targets, hints) }];
      } catch (error) {
        this.withdraw(waiting.event);
        reject(error);
        return [];
      }
    });
    await this.write(planned, (events) => this.options.store.insert(events));
  }

  private async write(planned: readonly Planned[], insert: Insert): Promise<void> {
    const { id: starter } = this.planner;
    const events = planned.map(({ waiting: { storable, once }, plan: { targets, carriers } }) => ({
      ...{ ...storable, once, starter, targets, carriers },
    }));
    try {
      // A repeat stores no event twice.
      const there = await tryAgain(() => insert(events));
      for (const [index, { waiting, plan }] of planned.entries()) {
        const kept = there[index];
        if (kept) plan.dropped();
        if (kept) this.repeated(waiting, kept);
        else this.accepted(waiting, plan);
      }
    } catch (error) {
      await this.findOut(planned, error);
    }
  }

  /** Answers with the stored event. The process that accepted it may have died before it took its places. */
  private repeated({ event, ...waiting }: WaitingOffer, kept: KeptEvent): void {
    const { feedOrder } = this.planner;
    const isSame = kept.event_id === event.event_id;
    if (!isSame) feedOrder.end(event.event_id);
    const inFeed = isSame ? feedOrder.stored(event) : undefined;
    const placed = this.places.take(kept);
    Promise.all([placed, inFeed]).then(() => waiting.resolve(kept), waiting.reject);
  }

  private accepted(waiting: WaitingOffer, plan: StartPlan): void {
    this.options.remember(waiting.storable, waiting.event.payload);
    const inFeed = this.planner.feedOrder.stored(waiting.event);
    const placed = this.places.take({ ...waiting.event, targets: waiting.targets });
    if (placed === undefined) this.start(waiting, plan, inFeed);
    else
      placed.then(
        () => this.start(waiting, plan, inFeed),
        (error) => {
          // It is started all the same, and takes its places then.
          plan.unsure();
          waiting.reject(error);
        },
      );
  }

  /** Starts an event's deliveries. Its producer need not wait for that, unless more is accepted than can be started. */
  private start(waiting: WaitingOffer, plan: StartPlan, inFeed: Promise<void>): void {
    const started = plan.stored(inFeed);
    const kept = keptOf(waiting);
    const inTime = this.planner.isBehind
      ? withTimeout(SLOWED_MS, started).catch(() => {})
      : Promise.resolve();
    void Promise.all([inFeed, inTime]).then(() => waiting.resolve(kept));
  }

  /** An insert of which nobody knows how it ended is asked for: what is stored is accepted, whatever its call says. */
  private async findOut(planned: readonly Planned[], error: unknown): Promise<void> {
    const stored = new Set<string>();
    for (const some of inParts(planned, INSERTED_AT_ONCE)) {
      const ids = some.map(({ waiting: { event } }) => event.event_id);
      for (const id of await this.options.store.stored(ids).catch(() => [])) stored.add(id);
    }
    for (const { waiting, plan } of planned) {
      if (stored.has(waiting.event.event_id)) {
        this.accepted(waiting, plan);
      } else {
        // The write may still be under way.
        this.planner.feedOrder.end(waiting.event.event_id);
        plan.unsure();
        waiting.reject(error);
      }
    }
  }
}

function bytesOf(batch: readonly WaitingOffer[]): number {
  return batch.reduce((sum, { storable: { payload_bytes } }) => sum + payload_bytes, 0);
}

function keptOf({ event, targets, once }: Offer): KeptEvent {
  const { event_id, accepted_at, sequence } = event;
  return { event_id, accepted_at, sequence, targets, body_hash: once?.body_hash };
}
