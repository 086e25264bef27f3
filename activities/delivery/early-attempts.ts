import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { dropOldest } from '../../src/domain/basics/bounded-memory.js';
import { deliveryId } from '../../src/domain/basics/delivery-id.js';
import type { FirstOrder } from '../../src/domain/delivery/attempt-order.js';
import { attemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { AttemptDelivery } from './attempt-delivery.js';
import { sinceEnd } from './hand-over.js';
import { directLane } from './side-by-side.js';

type Report = AttemptReport | null;

/**
 * How many deliveries are remembered of which only one side has asked: more than may wait to be started in a process.
 */
const MAX_CLAIMS = 20_000;

/**
 * The reason why an endpoint took no attempt holds for so long, milliseconds. Resuming the endpoint after it was read
 * begins a release, which looks for waiting deliveries until half a minute later: so it finds the delivery.
 */
const UNMADE_KNOWN_MS = 5_000;

/** A workflow of this process asks for its attempts within this of their end, milliseconds. */
const UNCLAIMED_AFTER_MS = 500;

/**
 * First attempts in the direct lane. Two sides ask for each of them: the code that accepts the event, once the event is
 * stored; and the workflow. The first to ask makes the attempt, so that it waits for no start. The second gets the same
 * report.
 */
export class EarlyAttempts {
  /** Attempts that the first side has begun, by delivery, until the second asks for them. */
  private readonly claims = new Map<string, Promise<Report>>();
  /** Attempts that are being kept here, by delivery. */
  private readonly keeping = new Set<string>();
  private stopping = false;
  private readonly make: AttemptDelivery;

  constructor(make: AttemptDelivery) {
    this.make = make;
  }

  /**
   * Begins first attempts at deliveries of events that are stored, unless this process stops.
   *
   * @returns whether it does
   */
  begin(orders: readonly FirstOrder[], timeoutMs: number): boolean {
    if (this.stopping) return false;
    for (const order of orders) {
      const id = nameOf(order);
      if (!this.claims.has(id)) this.claims.set(id, this.makeOne(order, timeoutMs, true));
    }
    dropOldest(this.claims, MAX_CLAIMS);
    return true;
  }

  /** Stops beginning early attempts: the worker stops, so another one may get their workflows and make the attempts. */
  stop(): void {
    this.stopping = true;
  }

  /** The worker stops, and may not get the workflows of attempts under way. */
  get isStopping(): boolean {
    return this.stopping;
  }

  /**
   * The attempts that a workflow asks for: those that have been begun, or new ones. One that cannot be made does not
   * affect the others. Its start may be late: an endpoint that was paused may take deliveries by now.
   *
   * @param reports gets each of them as it ends, by the position of its order
   */
  async attempt(orders: readonly FirstOrder[], timeoutMs: number, reports: Report[] = []): Promise<Report[]> {
    await Promise.all(
      orders.map(async (order, position) => {
        const id = nameOf(order);
        const claimed = this.claims.get(id);
        this.claims.delete(id);
        const report = await claimed;
        const isOld = report?.kind === 'not_attempted' && sinceEnd(report) > UNMADE_KNOWN_MS;
        const isMissing = report === undefined || isOld;
        reports[position] = isMissing ? await this.makeOne(order, timeoutMs, false) : report;
      }),
    );
    return reports;
  }

  /** All of these have been begun here, and nobody has asked for them. */
  has(orders: readonly FirstOrder[]): boolean {
    return orders.every((order) => this.claims.has(nameOf(order)));
  }

  /** Some of these are being kept here, because nobody had asked for them. */
  isKeeping(orders: readonly FirstOrder[]): boolean {
    return orders.some((order) => this.keeping.has(nameOf(order)));
  }

  /**
   * Has the rows kept of attempts that nobody has asked for a moment after their end: their workflow runs in another
   * process, or is late.
   */
  async keepUnclaimed(
    orders: readonly FirstOrder[],
    keep: (reports: Report[]) => Promise<void>,
  ): Promise<void> {
    const begun = orders.map((order) => this.claims.get(nameOf(order)));
    const reports = await Promise.all(begun);
    if (!this.stopping) await delay(UNCLAIMED_AFTER_MS);
    const isUnclaimed = orders.every((order, index) => this.claims.get(nameOf(order)) === begun[index]);
    if (!isUnclaimed || begun.includes(undefined)) return;
    const names = orders.map(nameOf);
    for (const name of names) {
      this.claims.delete(name);
      this.keeping.add(name);
    }
    try {
      await keep(reports.map((report) => report ?? null));
    } finally {
      for (const name of names) this.keeping.delete(name);
    }
  }

  private async makeOne(order: FirstOrder, timeoutMs: number, placed: boolean): Promise<Report> {
    const how = placed ? { placed } : {};
    const [report = null] = await directLane([order], () => this.make(attemptRequest(order, timeoutMs, how)));
    return report;
  }
}

function nameOf({ event, endpoint_id }: FirstOrder): string {
  return `${event.account_id} ${deliveryId({ event_id: event.event_id, endpoint_id })}`;
}
