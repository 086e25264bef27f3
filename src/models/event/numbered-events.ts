import type { Connection } from 'mongoose';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { idsBeginAt } from '../../domain/basics/ids.js';
import { joined, type NumberRange } from '../../domain/sequence/ranges.js';
import { repositoryOf } from '../mongo/collection.js';
import { BY_MAJORITY } from '../mongo/durability.js';
import { type EventDocument, EventSeal, events } from './event-document.js';

/** Documents between which other work is done. */
const AT_ONCE = 200;

/** An event of an account's sequence. */
export interface NumberedEvent {
  id: string;
  sequence: number;
  /** Difference from what was written; absent if there is none. Then its number is that of no event. */
  wrong: string | undefined;
}

/** Which numbers events have. */
export class NumberedEvents extends repositoryOf(events) {
  private readonly seal: EventSeal;

  constructor(connection: Connection, box: SecretBox | undefined) {
    super(connection);
    this.seal = new EventSeal(box);
  }

  /** Events of an account, in any order. @param of with numbers within a range, or accepted in a period */
  async find(
    accountId: string,
    of: NumberRange | { from: Date; to: Date },
    limit: number,
  ): Promise<NumberedEvent[]> {
    const condition =
      'first' in of
        ? { sequence: { $gte: of.first, $lte: of.last } }
        : {
            _id: { $gte: idsBeginAt('event', of.from.getTime()), $lt: idsBeginAt('event', of.to.getTime()) },
          };
    const found: NumberedEvent[] = [];
    const query = this.model.find({ account_id: accountId, ...condition }, { sealed: 0 }).limit(limit);
    // Some at once, with other work in between: each is checked.
    for await (const document of query.lean<EventDocument[]>().cursor({ batchSize: AT_ONCE })) {
      const { _id: id, sequence } = document;
      if (typeof sequence === 'number') found.push({ id, sequence, wrong: this.seal.whatIsWrong(document) });
    }
    return found;
  }

  /**
   * Groups, among those given, that an event names. The events of their time are read: the embedded server has no index
   * of lists.
   *
   * @param periods of each group, in which its first events were accepted
   */
  async carrying(periods: readonly NumberRange[], groupIds: readonly string[]): Promise<Set<string>> {
    const asked = new Set(groupIds);
    const named = new Set<string>();
    for (const { first, last } of joined(periods)) {
      const id = { $gte: idsBeginAt('event', first), $lt: idsBeginAt('event', last + 1) };
      const query = this.model.find({ _id: id }, { carriers: 1 }).setOptions(BY_MAJORITY);
      for await (const { carriers } of query.lean<EventDocument[]>().cursor({ batchSize: AT_ONCE }))
        for (const carrier of carriers ?? []) if (asked.has(carrier)) named.add(carrier);
    }
    return named;
  }

  /** The highest number from a number on that an event of an account has; 0 if none has one. */
  async highestFrom(accountId: string, first: number): Promise<number> {
    const found = () => this.model.find({ account_id: accountId, sequence: { $gte: first } }, { sealed: 0 });
    // Hardly ever there is one, and the embedded server reads all of them to put them in order.
    if ((await found().limit(1).lean()).length === 0) return 0;
    for await (const document of found().sort({ sequence: -1 }).lean<EventDocument[]>().cursor())
      if (typeof document.sequence === 'number' && this.seal.whatIsWrong(document) === undefined)
        return document.sequence;
    return 0;
  }
}
