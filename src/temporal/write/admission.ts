import { type AcceptedEvent, type DeliveryTarget, MAX_GROUP_SIZE } from '../../domain/delivery/delivery.js';
import type { Placement } from '../../domain/endpoint/endpoint-conditions.js';
import type { GroupRange } from '../../domain/ledger/group-series.js';
import { bytesInList, MAX_ATTRIBUTE_BYTES } from '../../domain/ledger/search-attributes.js';
import { LedgerBusyError } from '../errors.js';
import type { StartSlots } from './start-slots.js';

/** A delivery that is to be started. */
export interface PendingDelivery {
  event: AcceptedEvent;
  target: DeliveryTarget;
  /** Whether its execution stands for the event in a list of events. */
  head: boolean;
  /** Where its first attempt is made. */
  placement: Placement;
  /** The host of its endpoint, if it is known: for people who read summaries. */
  host?: (() => string | undefined) | undefined;
  /** The groups that it may be started in, if its request can be repeated; absent: any. */
  groups?: GroupRange | undefined;
}

/** Starts deliveries. Both functions resolve once the starts are persisted. */
export interface Starts {
  /** Starts each delivery by itself. */
  startAlone(deliveries: readonly PendingDelivery[]): Promise<void>;
  /** Starts deliveries as one group. */
  startGroup(deliveries: readonly PendingDelivery[]): Promise<void>;
}

/**
 * The most bytes of payload in a group. It is one input of a workflow, which Temporal limits to 2 MiB
 * (`docs/decisions/0013`), and takes up to twice as much there: of what JSON has, JSON escapes quotation marks,
 * backslashes and line breaks, with one character more each.
 */
export const MAX_GROUP_BYTES = 512 * 1024;
/** The most deliveries that wait for a start in a lane; beyond it, events are refused. */
export const MAX_WAITING = 5_000;
/** Deliveries of one event up to this many are started by themselves if nothing else waits. */
const MAX_ALONE = 10;
/**
 * After a group its slot pauses: at least so many times as long as the start took, so that the first attempts get the
 * processor; then until as many deliveries wait as the group had, at most `most` times, because the producers that were
 * answered send again. If starts take long because Temporal is far away, they send again much sooner: the second part
 * has a longest time, milliseconds. Groups get larger and answers come sooner than without the pause
 * (`docs/decisions/0010-rest-after-a-group.md`).
 *
 * Where slots linger, the first part is longer, and the second one ends early only if there is a full group: events
 * that nobody waits for leave more of the processor to others (`docs/decisions/0039-waiting-groups.md`).
 */
const REST = {
  most: 3,
  usual: { least: 0.5, longestWaitMs: 25 },
  lingering: { least: 1.2, longestWaitMs: 75 },
};
/**
 * Where slots linger, the responses to a group's producers are staggered: so many at a time, over this many times as
 * long as its start took, but no longer than this, milliseconds. Producers send again once they have theirs; if all did
 * so at once, others would be behind all of them.
 */
const STAGGER = { size: 4, times: 2, longestMs: 50 };

/**
 * The next delivery counts as late after so many times the mean time between two; the weight of the latest of these
 * times in their mean, and the longest that counts, milliseconds.
 */
const GAP = { lateAfter: 2, weight: 0.2, longestMs: 1_000 };

interface Waiting {
  delivery: PendingDelivery;
  isUrgent: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Groups deliveries that wait for a start slot. While slots are free nothing waits, and every delivery is started by
 * itself. What arrives while all slots are taken is started together, as one group, in the next free one.
 *
 * A free slot may linger: it waits for more deliveries as long as the next one comes soon. One of a group costs a
 * fraction of one by itself.
 */
export class Admission {
  private readonly slots: StartSlots;
  private readonly starts: Starts;
  private queue: Waiting[] = [];
  /** Whether a slot has been asked for on behalf of the queue. */
  private isAsking = false;
  /** Called when something is added to the queue. */
  private readonly watchers = new Set<() => void>();
  private readonly lingerMs: number;
  private latestAt = Number.NEGATIVE_INFINITY;
  /** Mean time between two deliveries, milliseconds. */
  private meanGapMs = GAP.longestMs;

  /** @param lingerMs how long a free slot waits for more deliveries at most, milliseconds */
  constructor(slots: StartSlots, starts: Starts, lingerMs = 0) {
    this.slots = slots;
    this.starts = starts;
    this.lingerMs = lingerMs;
  }

  /**
   * Starts deliveries of one event, by themselves or together with others. Resolves once every one of them is
   * persisted.
   *
   * @param isUrgent they are started as soon as there is a slot
   * @throws LedgerBusyError if too many are waiting
   */
  async submit(deliveries: readonly PendingDelivery[], isUrgent = false): Promise<void> {
    if (deliveries.length === 0) return;
    this.checkRoom(deliveries.length);
    if (this.lingers) this.noteArrival(deliveries.length);
    const started = deliveries.map(
      (delivery) =>
        new Promise<void>((resolve, reject) => this.queue.push({ delivery, isUrgent, resolve, reject })),
    );
    for (const watch of [...this.watchers]) watch();
    this.askForSlot();
    await Promise.all(started);
  }

  /** @throws LedgerBusyError if there is no room for so many more deliveries to wait */
  checkRoom(deliveries: number): void {
    if (this.queue.length + deliveries > MAX_WAITING)
      throw new LedgerBusyError('Too many events wait to be accepted.');
  }

  /** How many deliveries wait. */
  get waiting(): number {
    return this.queue.length;
  }

  private askForSlot(): void {
    if (this.isAsking || this.queue.length === 0) return;
    this.isAsking = true;
    void this.slots.run(async () => {
      await this.gather();
      this.isAsking = false;
      const batch = this.takeBatch();
      const leftBehind = this.queue.length > 0;
      this.askForSlot();
      await this.start(batch, leftBehind);
    });
  }

  private get lingers(): boolean {
    return this.lingerMs > 0;
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
    const isEnough = () => this.queue.length >= MAX_GROUP_SIZE || this.queue.some(({ isUrgent }) => isUrgent);
    for (let waiting = 0; waiting < this.queue.length && !isEnough(); ) {
      waiting = this.queue.length;
      const lateAfter = GAP.lateAfter * this.meanGapMs;
      if (performance.now() + lateAfter > end) return;
      await this.pause(lateAfter, () => this.queue.length > waiting);
    }
  }

  private async start(batch: readonly Waiting[], leftBehind: boolean): Promise<void> {
    const deliveries = batch.map(({ delivery }) => delivery);
    const isGroup = batch.length > 1 && !isSmallEvent(deliveries);
    const began = performance.now();
    try {
      await (isGroup ? this.starts.startGroup(deliveries) : this.starts.startAlone(deliveries));
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    const tookMs = performance.now() - began;
    if (isGroup && this.lingers) resolveStaggered(batch, Math.min(STAGGER.times * tookMs, STAGGER.longestMs));
    else for (const { resolve } of batch) resolve();
    if (isGroup) await this.rest(batch.length, leftBehind, tookMs);
  }

  /** The deliveries that have waited longest, of one event kind, as many as fit into a group. */
  private takeBatch(): Waiting[] {
    const kind = this.queue[0]?.delivery.event.event_kind;
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    const events = new Set<string>();
    const named = new Set<string>();
    let bytes = 0;
    let attributeBytes = 1;
    for (const waiting of this.queue) {
      const { event } = waiting.delivery;
      const added = events.has(event.event_id) ? 0 : Buffer.byteLength(event.payload);
      const names = [event.account_id, ...(event.keys ?? [])].filter((name) => !named.has(name));
      const addedToAttribute = names.reduce((sum, name) => sum + bytesInList(name), 0);
      const fits =
        batch.length === 0 ||
        (event.event_kind === kind &&
          batch.length < MAX_GROUP_SIZE &&
          bytes + added <= MAX_GROUP_BYTES &&
          attributeBytes + addedToAttribute <= MAX_ATTRIBUTE_BYTES);
      (fits ? batch : rest).push(waiting);
      if (!fits) continue;
      events.add(event.event_id);
      bytes += added;
      for (const name of names) named.add(name);
      attributeBytes += addedToAttribute;
    }
    this.queue = rest;
    return batch;
  }

  private async rest(started: number, leftBehind: boolean, startMs: number): Promise<void> {
    const { lingers } = this;
    const rest = lingers ? REST.lingering : REST.usual;
    const least = rest.least * startMs;
    const most = Math.min(REST.most * startMs, least + rest.longestWaitMs);
    const enough = lingers ? MAX_GROUP_SIZE : Math.min(this.queue.length + started, MAX_GROUP_SIZE);
    await this.pause(least, () => false);
    // Deliveries that did not fit into the group need not wait for others.
    if (!leftBehind) await this.pause(most - least, () => this.queue.length >= enough);
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

/** Resolves what is urgent at once, and the others a few at a time. @param overMs how long that takes, milliseconds */
function resolveStaggered(batch: readonly Waiting[], overMs: number): void {
  for (const { isUrgent, resolve } of batch) if (isUrgent) resolve();
  const canWait = batch.filter(({ isUrgent }) => !isUrgent);
  for (let first = 0; first < canWait.length; first += STAGGER.size) {
    const part = canWait.slice(first, first + STAGGER.size);
    setTimeout(
      () => {
        for (const { resolve } of part) resolve();
      },
      (overMs * first) / canWait.length,
    );
  }
}

function isSmallEvent(deliveries: readonly PendingDelivery[]): boolean {
  const [first] = deliveries;
  return deliveries.length <= MAX_ALONE && deliveries.every(({ event }) => event === first?.event);
}
