import { deliveryId } from '../../domain/basics/delivery-id.js';
import { newId } from '../../domain/basics/ids.js';
import type { Begun } from '../../domain/delivery/attempt-order.js';
import { type DeliveryTarget, MAX_GROUP_SIZE, type NamedEvent } from '../../domain/delivery/delivery.js';
import type { Placement } from '../../domain/endpoint/breaker/endpoint-conditions.js';
import type { StartSlots } from './start-slots.js';

/** A delivery that is to be started. */
export interface PendingDelivery {
  event: NamedEvent;
  target: DeliveryTarget;
  /** Where its first attempt is made. */
  placement: Placement;
  /** Its first attempt has begun. */
  begun?: Begun | undefined;
  /** The host of its endpoint, if it is known: for people who read summaries. */
  host?: (() => string | undefined) | undefined;
}

/** Starts deliveries. Both functions resolve once the starts are persisted, however often that has to be tried. */
export interface Starts {
  /** Starts each delivery by itself. */
  startAlone(deliveries: readonly PendingDelivery[]): Promise<void>;
  /** Starts deliveries as a group, under an id that their events name. */
  startGroup(deliveries: readonly PendingDelivery[], id: string): Promise<void>;
}

/** Deliveries that will be started, once their event is stored. */
export interface Reservation {
  /** The group that carries them; absent: each is started by itself. */
  group?: string;
  /** The event is stored. Resolves when they are started. */
  stored(): Promise<void>;
  /** The event is not stored, or nobody knows. */
  dropped(): void;
}

/**
 * After a group its slot pauses: at least so many times as long as the start took, so that the first attempts get the
 * processor; then until as many deliveries wait as the group had, at most `most` times, because producers that were
 * answered send again. If starts take long because Temporal is far away, they send again much sooner: the second part
 * has a longest time, milliseconds. Groups get larger than without the pause
 * (`docs/decisions/0010-groups.md`).
 *
 * Where slots linger, the first part is longer, and the second one ends early only if there is a full group: events
 * that nobody waits for leave more of the processor to others (`docs/decisions/0032-outages.md`).
 */
const REST = {
  most: 3,
  usual: { least: 0.5, longestWaitMs: 25 },
  lingering: { least: 1.2, longestWaitMs: 75 },
};

/**
 * The next delivery counts as late after so many times the mean time between two; the weight of the latest of these
 * times in their mean, and the longest that counts, milliseconds.
 */
const GAP = { lateAfter: 2, weight: 0.2, longestMs: 1_000 };

/** Deliveries that are started with one call, or each with its own. */
class Unit {
  readonly id: string | undefined;
  readonly deliveries: PendingDelivery[] = [];
  /** Reservations whose event is not stored yet. */
  reserved = 0;
  /** Takes no more. */
  isClosed = false;
  readonly started: Promise<void>;
  resolve = () => {};
  private readonly ids = new Set<string>();
  private size = 0;
  private settle = () => {};

  constructor(id?: string) {
    this.id = id;
    this.started = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** Makes room for deliveries of one event; `false` if there is none. */
  take(deliveries: readonly PendingDelivery[]): boolean {
    const fits = this.size === 0 || this.size + deliveries.length <= MAX_GROUP_SIZE;
    if (!fits || this.isClosed || deliveries.length === 0) return false;
    this.size += deliveries.length;
    this.reserved += 1;
    return true;
  }

  /** A reservation's event is stored, or is not. One that was accepted twice meanwhile is started once. */
  settled(deliveries: readonly PendingDelivery[]): void {
    for (const one of deliveries) {
      const id = deliveryId({ ...one.event, ...one.target });
      if (this.ids.has(id)) continue;
      this.ids.add(id);
      this.deliveries.push(one);
    }
    this.reserved -= 1;
    if (this.reserved === 0) this.settle();
  }

  /** Takes no more; resolves when it is known of all that it has taken whether their events are stored. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.reserved > 0)
      await new Promise<void>((resolve) => {
        this.settle = resolve;
      });
  }
}

/**
 * Decides which deliveries are started together. While start slots are free, every delivery is started by itself, under
 * its own id. Deliveries that arrive while all slots are taken form a group, which is started in the next free slot.
 * The group is chosen before the event is stored, because the event names it: so every process starts the same group.
 *
 * A free slot may linger: it waits for more deliveries as long as the next one comes soon. One of a group costs a
 * fraction of one by itself. Batching libraries name a batch when it is run; this one is named when it is begun.
 */
export class Admission {
  private readonly slots: StartSlots;
  private readonly starts: Starts;
  private readonly lingerMs: number;
  /** In the order in which they are started. */
  private readonly units = new Set<Unit>();
  /** Groups that take more, by event kind. */
  private readonly open = new Map<string, Unit>();
  /** Whether a slot has been asked for on behalf of the units. */
  private isAsking = false;
  /** Units that are being started, and pauses after them. */
  private starting = 0;
  /** Called when deliveries come. */
  private readonly watchers = new Set<() => void>();
  private latestAt = Number.NEGATIVE_INFINITY;
  /** Mean time between two deliveries, milliseconds. */
  private meanGapMs = GAP.longestMs;

  /** @param lingerMs how long a free slot waits for more deliveries at most, milliseconds */
  constructor(slots: StartSlots, starts: Starts, lingerMs = 0) {
    this.slots = slots;
    this.starts = starts;
    this.lingerMs = lingerMs;
  }

  /** Makes room for deliveries of one event. */
  reserve(deliveries: readonly PendingDelivery[]): Reservation {
    if (this.lingers) this.noteArrival(deliveries.length);
    const unit = this.unitFor(deliveries);
    return {
      ...(unit.id !== undefined && { group: unit.id }),
      stored: () => {
        unit.settled(deliveries);
        for (const watch of [...this.watchers]) watch();
        this.askForSlot();
        return unit.started;
      },
      dropped: () => unit.settled([]),
    };
  }

  private unitFor(deliveries: readonly PendingDelivery[]): Unit {
    const kind = deliveries[0]?.event.event_kind ?? '';
    const open = this.open.get(kind);
    if (open?.take(deliveries)) return open;
    const isBusy = open || this.units.size > 0 || this.starting >= this.slots.count || this.expectsMore;
    const unit = new Unit(isBusy ? newId('group') : undefined);
    unit.take(deliveries);
    this.units.add(unit);
    if (isBusy) this.open.set(kind, unit);
    else unit.isClosed = true;
    return unit;
  }

  /** Deliveries that are stored and wait. */
  private get waiting(): number {
    let waiting = 0;
    for (const { deliveries } of this.units) waiting += deliveries.length;
    return waiting;
  }

  private askForSlot(): void {
    if (this.isAsking || this.waiting === 0) return;
    this.isAsking = true;
    void this.slots.run(async () => {
      await this.gather();
      this.isAsking = false;
      const unit = this.next();
      const leftBehind = this.waiting > 0;
      this.askForSlot();
      if (unit) await this.start(unit, leftBehind);
    });
  }

  /** The unit that has waited longest, of those with a delivery that is stored. */
  private next(): Unit | undefined {
    for (const unit of this.units) {
      if (unit.deliveries.length === 0) continue;
      this.units.delete(unit);
      unit.isClosed = true;
      for (const [kind, open] of this.open) if (open === unit) this.open.delete(kind);
      return unit;
    }
    return undefined;
  }

  private async start(unit: Unit, leftBehind: boolean): Promise<void> {
    this.starting += 1;
    await unit.close();
    const { id, deliveries } = unit;
    const began = performance.now();
    await (id === undefined ? this.starts.startAlone(deliveries) : this.starts.startGroup(deliveries, id));
    unit.resolve();
    if (id !== undefined) await this.rest(deliveries.length, leftBehind, performance.now() - began);
    this.starting -= 1;
  }

  private get lingers(): boolean {
    return this.lingerMs > 0;
  }

  private get expectsMore(): boolean {
    return this.lingers && GAP.lateAfter * this.meanGapMs <= this.lingerMs;
  }

  private noteArrival(deliveries: number): void {
    const now = performance.now();
    const gap = Math.min((now - this.latestAt) / deliveries, GAP.longestMs);
    this.meanGapMs += GAP.weight * (gap - this.meanGapMs);
    this.latestAt = now;
  }

  /** Waits until the next delivery is late, or would be. */
  private async gather(): Promise<void> {
    if (!this.lingers) return;
    const end = performance.now() + this.lingerMs;
    const isEnough = () =>
      this.waiting >= MAX_GROUP_SIZE || [...this.units].some(({ id }) => id === undefined);
    for (let waiting = 0; waiting < this.waiting && !isEnough(); ) {
      waiting = this.waiting;
      const lateAfter = GAP.lateAfter * this.meanGapMs;
      if (performance.now() + lateAfter > end) return;
      await this.pause(lateAfter, () => this.waiting > waiting);
    }
  }

  private async rest(started: number, leftBehind: boolean, startMs: number): Promise<void> {
    const { lingers } = this;
    const rest = lingers ? REST.lingering : REST.usual;
    const least = rest.least * startMs;
    const most = Math.min(REST.most * startMs, least + rest.longestWaitMs);
    const enough = lingers ? MAX_GROUP_SIZE : Math.min(this.waiting + started, MAX_GROUP_SIZE);
    await this.pause(least, () => false);
    // Deliveries that did not fit into the group need not wait for others.
    if (!leftBehind) await this.pause(most - least, () => this.waiting >= enough);
  }

  /** Waits until a condition holds in the queue, or the time is over. */
  private async pause(ms: number, isOver: () => boolean): Promise<void> {
    if (isOver()) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.watchers.delete(watch);
        resolve();
      };
      const watch = () => {
        if (isOver()) end();
      };
      const timer = setTimeout(end, ms);
      this.watchers.add(watch);
    });
  }
}
