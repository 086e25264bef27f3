import { newId } from '../basics/ids.js';

/**
 * The groups in which deliveries that wait now can be started: numbers of a series. It is stored beside an idempotency
 * key, so that whoever repeats the request knows where its deliveries may be.
 */
export interface GroupRange {
  series: string;
  /** Inclusive. */
  first: number;
  last: number;
}

/**
 * So many groups may be started between the moment when an event is given its range and the one when it joins those
 * that wait.
 */
const MARGIN = 16;

/** More groups than any range has: what a record in the database says is not asked of Temporal without a limit. */
const MAX_RANGE = 1_000;

/** Numbers the groups that a process starts: none is used twice, and what comes next is known before it is started. */
export class GroupSeries {
  private readonly id = newId('group');
  private readonly largest: number;
  private next = 1;

  /** @param largest deliveries in a group, at most */
  constructor(largest: number) {
    this.largest = largest;
  }

  /** A group that nothing has been started as. */
  take(): { id: string; range: GroupRange } {
    const number = this.next;
    this.next += 1;
    return { id: groupIdIn(this.id, number), range: { series: this.id, first: number, last: number } };
  }

  /**
   * The groups in which a delivery can be started that comes now.
   *
   * @param waiting deliveries that wait already. Groups are smaller where event kinds or long payloads meet, so that
   * those ahead fill twice as many as they would at least
   */
  ahead(waiting: number): GroupRange {
    const last = this.next + MARGIN + 2 * Math.ceil(waiting / this.largest);
    return { series: this.id, first: this.next, last };
  }
}

/** Whether a range has another one in it. */
export function includes(outer: GroupRange, inner: GroupRange): boolean {
  return outer.series === inner.series && outer.first <= inner.first && inner.last <= outer.last;
}

/** The ids of a range's groups. @throws if there are more than any range has */
export function groupsOf({ series, first, last }: GroupRange): string[] {
  if (!(last - first < MAX_RANGE))
    throw new RangeError(`The groups ${first} to ${last} of ${series} are more than a range has.`);
  return Array.from({ length: last - first + 1 }, (_, index) => groupIdIn(series, first + index));
}

function groupIdIn(series: string, number: number): string {
  return `${series}:${number}`;
}
