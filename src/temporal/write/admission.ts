import { type AcceptedEvent, type DeliveryTarget, MAX_GROUP_SIZE } from '../../domain/delivery/delivery.js';
import type { FailingMark } from '../../domain/endpoint/incident.js';
import { LedgerBusyError } from '../errors.js';

/** A delivery that is to be started. */
export interface PendingDelivery {
  event: AcceptedEvent;
  target: DeliveryTarget;
  /** Whether it stands for its event in a list of events. */
  head: boolean;
  /** What is known of its endpoint's failing. */
  failing?: FailingMark | undefined;
}

export interface AdmissionOptions {
  /** Start calls in flight at once. */
  startsInFlight: number;
  /** Starts deliveries each by itself. */
  startAlone(deliveries: readonly PendingDelivery[]): Promise<void>;
  /** Starts several deliveries as one group. */
  startGroup(deliveries: readonly PendingDelivery[]): Promise<void>;
}

/** A group has no more bytes of payload than this: it is one input of a workflow, of which Temporal takes 2 MiB (`docs/decisions/0013`). */
export const MAX_GROUP_BYTES = 512 * 1024;
/** Beyond so many deliveries that wait, no more are taken: their senders are told to come back. */
export const MAX_WAITING = 5_000;
/** A start that lasts longer than this gives its place to another, so that one slow call does not hold everything up. Milliseconds. */
const SLOW_START_MS = 250;
/** So many slow starts may give their places away. */
const MAX_SLOW_STARTS = 8;
/**
 * After a group, its place stays taken: for so many times as long as its start took, so that the first attempts get the processor; and on,
 * up to so many times, until as many have come as were in the group: those who were answered send again and go along with the next one. Groups
 * get larger, and answers come sooner, than without (the sweep is in `docs/decisions/0010-rest-after-a-group.md`).
 */
const LEAST_REST = 0.5;
const MOST_REST = 3;
/** Where start calls take long because Temporal is far away, those who were answered are back much sooner: no more is waited for them. Milliseconds. */
const LONGEST_WAIT_MS = 25;
/** Deliveries that find a free place are started by themselves; more than this that come together are groups even so. */
const MAX_ALONE = 10;

interface Waiting {
  delivery: PendingDelivery;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Lets few start calls go to Temporal at a time. What finds a free place is started by itself; what arrives while all places are taken
 * waits for the next one and goes together with what else is waiting. At ordinary load nothing waits at all.
 */
export class Admission {
  private readonly options: AdmissionOptions;
  private readonly queue: Waiting[] = [];
  /** Ends a pause, by how many deliveries must wait for that. */
  private readonly pausing = new Map<() => void, number>();
  private inFlight = 0;
  private slowStarts = 0;

  constructor(options: AdmissionOptions) {
    this.options = options;
  }

  /**
   * Starts deliveries of one event, by themselves or with others. Resolves once every one of them is persisted.
   *
   * @throws LedgerBusyError where too many wait already
   */
  async submit(deliveries: readonly PendingDelivery[]): Promise<void> {
    if (deliveries.length === 0) return;
    if (this.hasPlace() && this.queue.length === 0 && deliveries.length <= MAX_ALONE) {
      await this.occupyPlace(() => this.options.startAlone(deliveries));
      return;
    }
    this.requireRoom(deliveries.length);
    const started = deliveries.map(
      (delivery) => new Promise<void>((resolve, reject) => this.queue.push({ delivery, resolve, reject })),
    );
    for (const [end, enough] of this.pausing) if (this.queue.length >= enough) end();
    this.pump();
    await Promise.all(started);
  }

  /** @throws LedgerBusyError where so many more deliveries would be too many to wait */
  requireRoom(deliveries: number): void {
    if (this.queue.length + deliveries > MAX_WAITING) {
      throw new LedgerBusyError('Too many events wait to be accepted.');
    }
  }

  private hasPlace(): boolean {
    return this.inFlight < this.options.startsInFlight;
  }

  private pump(): void {
    while (this.hasPlace() && this.queue.length > 0) {
      const batch = this.takeBatch();
      const leftBehind = this.queue.length > 0;
      const deliveries = batch.map(({ delivery }) => delivery);
      this.occupyPlace(async () => {
        const began = performance.now();
        if (batch.length === 1) await this.options.startAlone(deliveries);
        else await this.options.startGroup(deliveries);
        for (const { resolve } of batch) resolve();
        if (batch.length > 1) await this.rest(batch.length, leftBehind, performance.now() - began);
      }).catch((error: unknown) => {
        for (const { reject } of batch) reject(error);
      });
    }
  }

  /** The deliveries that have waited longest, of one event kind, as many as fit into a group. */
  private takeBatch(): Waiting[] {
    const kind = this.queue[0]?.delivery.event.event_kind;
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    const events = new Set<string>();
    let bytes = 0;
    for (const waiting of this.queue) {
      const { event } = waiting.delivery;
      const added = events.has(event.event_id) ? 0 : Buffer.byteLength(event.payload);
      const fits =
        batch.length === 0 ||
        (event.event_kind === kind && batch.length < MAX_GROUP_SIZE && bytes + added <= MAX_GROUP_BYTES);
      (fits ? batch : rest).push(waiting);
      if (!fits) continue;
      events.add(event.event_id);
      bytes += added;
    }
    this.queue.splice(0, this.queue.length, ...rest);
    return batch;
  }

  /** Lets a place rest after a start that took so long, no longer than until it would be given away. */
  private async rest(started: number, leftBehind: boolean, startMs: number): Promise<void> {
    const untilGivenAway = Math.max(0, SLOW_START_MS - startMs);
    const least = Math.min(LEAST_REST * startMs, untilGivenAway);
    const most = Math.min(MOST_REST * startMs, least + LONGEST_WAIT_MS, untilGivenAway);
    const enough = Math.min(this.queue.length + started, MAX_GROUP_SIZE);
    await this.pause(least);
    if (!leftBehind) await this.pause(most - least, enough);
  }

  /** Waits for so many milliseconds, or until so many deliveries wait. */
  private async pause(ms: number, enough = Number.POSITIVE_INFINITY): Promise<void> {
    if (this.queue.length >= enough) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.pausing.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.pausing.set(end, enough);
    });
  }

  /** Runs a start in a place, which is free again when it is over, or sooner where it is slow. */
  private async occupyPlace(start: () => Promise<void>): Promise<void> {
    this.inFlight += 1;
    let hasGivenWay = false;
    const giveWay = setTimeout(() => {
      if (this.slowStarts >= MAX_SLOW_STARTS) return;
      hasGivenWay = true;
      this.slowStarts += 1;
      this.inFlight -= 1;
      this.pump();
    }, SLOW_START_MS);
    try {
      await start();
    } finally {
      clearTimeout(giveWay);
      if (hasGivenWay) this.slowStarts -= 1;
      else this.inFlight -= 1;
      this.pump();
    }
  }
}
