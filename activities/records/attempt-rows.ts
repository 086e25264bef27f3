import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { isClosed } from '../../src/domain/delivery/delivery.js';
import {
  type AttemptOrders,
  settledOrders,
  TURNS_OF_ATTEMPTS,
} from '../../src/domain/records/row/attempt-orders.js';
import type { Told, ToldDelivery } from '../../src/domain/records/told.js';

export type Reports = (AttemptReport | null)[];

/**
 * Keeps rows while attempts are in flight, unless it is doing so; nobody waits for it. New deliveries get a row once
 * they have closed: the others need a second write later.
 *
 * @param at when, by the workflow's time. Milliseconds since the epoch
 * @param isLong the other new deliveries get a row, too
 */
export type ShowSoFar = (reports: Readonly<Reports>, at: number, isLong?: boolean) => void;

/** A delivery after the report of its attempt, and its position among the orders. */
interface Settled {
  position: number;
  delivery: ToldDelivery;
}

/** Rows of deliveries that are attempted together: some while attempts are in flight, all of them at the end. */
export class AttemptRows {
  private readonly keepRows: (told: Told, isNew: boolean) => Promise<boolean>;
  private readonly request: AttemptOrders;
  private readonly options: { positions: readonly number[]; isNew: boolean; mayHaveRows: boolean };
  /** Those that have been told of. */
  private readonly told = new Set<number>();
  /** Those that have been told of after their attempts. */
  private readonly toldEnded = new Set<number>();
  /** Those whose rows are closed: in this run nothing more happens to them. */
  private readonly over = new Set<number>();
  private showing: Promise<void> | undefined;

  /**
   * @param keepRows see `createKeepRows`
   * @param options the positions of the orders that it is about; whether the deliveries are new, so that all are told
   * of; and whether some of these may have rows, which are looked for then
   */
  constructor(
    keepRows: (told: Told, isNew: boolean) => Promise<boolean>,
    request: AttemptOrders,
    options: { positions: readonly number[]; isNew: boolean; mayHaveRows: boolean },
  ) {
    this.keepRows = keepRows;
    this.request = request;
    this.options = options;
  }

  readonly showSoFar: ShowSoFar = (reports, at, isLong = false) => {
    this.showing ??= this.show(reports, at, isLong)
      .catch(() => {})
      .finally(() => {
        this.showing = undefined;
      });
  };

  /** Keeps what was not kept so far, when all attempts have ended. @returns whether the rows say what is told */
  async keepAll(reports: Readonly<Reports>, at: number): Promise<boolean> {
    await this.showing;
    return this.keep(this.settled(reports, at), at, this.lastTurn);
  }

  private get lastTurn(): number {
    return this.request.turn + TURNS_OF_ATTEMPTS - 1;
  }

  /** Those that have closed are told of for the last time, which outdoes what was told while they were in flight. */
  private async show(reports: Readonly<Reports>, at: number, isLong: boolean): Promise<void> {
    const some = this.settled(reports, at);
    const { isNew } = this.options;
    const closed = some.filter(({ delivery }) => isOver(delivery));
    await this.keep(closed, at, this.lastTurn);
    if (isNew && !isLong) return;
    const open = some.filter(({ delivery }) => !isOver(delivery));
    const toldEnded = isNew ? this.told : this.toldEnded;
    const inFlight = open.filter(({ position }) => !reports[position] && !this.told.has(position));
    const ended = open.filter(({ position }) => reports[position] && !toldEnded.has(position));
    await this.keep(inFlight, at, this.request.turn);
    await this.keep(ended, at, this.request.turn + 1);
    for (const { position } of ended) this.toldEnded.add(position);
  }

  /** Nothing is told of deliveries that had a row before and to which nothing has happened. */
  private settled(reports: Readonly<Reports>, at: number): Settled[] {
    const { orders } = this.request;
    const { positions, isNew } = this.options;
    const isToTell = (position: number) => isNew || reports[position] || orders[position]?.said;
    const some = positions.filter((position) => !this.over.has(position) && isToTell(position));
    const ordered = some.flatMap((position) => orders[position] ?? []);
    const own = some.map((position) => reports[position]);
    const deliveries = settledOrders({ ...this.request, orders: ordered }, own, at);
    return deliveries.map((delivery, index) => ({ position: some[index] ?? 0, delivery }));
  }

  private async keep(some: readonly Settled[], at: number, turn: number): Promise<boolean> {
    const { isNew, mayHaveRows } = this.options;
    const isFirst = ({ position }: Settled) => isNew && !mayHaveRows && !this.told.has(position);
    const first = some.filter(isFirst);
    const others = some.filter((one) => !isFirst(one));
    const isFirstKept = await this.keepPart(first, at, turn, true);
    return (await this.keepPart(others, at, turn, false)) && isFirstKept;
  }

  private async keepPart(part: readonly Settled[], now: number, turn: number, isFirst: boolean) {
    if (part.length === 0) return true;
    for (const { position } of part) this.told.add(position);
    const deliveries = part.map(({ delivery }) => delivery);
    const at = new Date(now).toISOString();
    const { run } = this.request;
    const isKept = await this.keepRows({ run, turn, at, deliveries, takes_over: true }, isFirst);
    if (!isKept) return false;
    for (const { position, delivery } of part) if (isOver(delivery)) this.over.add(position);
    return true;
  }
}

function isOver({ snapshot }: ToldDelivery): boolean {
  return isClosed(snapshot.record.status);
}
