import { inParts } from '../../domain/basics/bounded-memory.js';
import type { Starters } from '../../domain/delivery/stored-event.js';
import { type EventHead, justBefore, positionOf, positionsFrom } from '../../domain/feed/feed.js';
import type { RecordReader } from '../records/record-reader.js';
import type { OpenedEvent } from '../records/unaltered.js';
import type { FeedRepository } from './feed.js';

/** Events that are looked at together, by what they tell without their payloads. */
const HEADS_AT_ONCE = 200;
/** How often a page looks for more. So it looks at 2,000 events at most, whatever it finds. */
const MAX_ROUNDS = 10;
/** Events whose payloads are opened together, and bytes of payloads after which a page ends. */
export const OPENED_AT_ONCE = 16;
export const MAX_BYTES = 4 * 1024 * 1024;

/** Which events of an account are asked for. */
export interface Wanted {
  /** Whether an event can be one; the others are passed over without their payloads. */
  mayMatch(head: Pick<EventHead, 'id' | 'kind'>): boolean;
  /** @param event its payload as it was received, absent if it is gone; the only endpoints that may get it, if named */
  matches(event: Pick<OpenedEvent['event'], 'id' | 'payload' | 'named_endpoints'>): boolean;
}

/** An event with its place in the feed. */
export interface FeedEntry extends OpenedEvent {
  position: string;
}

export interface FeedPage {
  entries: FeedEntry[];
  /** Position behind which the next page begins. */
  after: string;
  /** There was nothing behind it yet. */
  isEnd: boolean;
}

/** Reads the events of an account in the order of the feed. See `FeedOrder` for why nothing is passed over. */
export class FeedReader {
  private readonly records: Pick<RecordReader, 'eventHeads' | 'eventsOf'>;
  private readonly feed: FeedRepository;
  private readonly starters: Pick<Starters, 'all'>;

  constructor(
    records: Pick<RecordReader, 'eventHeads' | 'eventsOf'>,
    feed: FeedRepository,
    starters: Pick<Starters, 'all'>,
  ) {
    this.records = records;
    this.feed = feed;
    this.starters = starters;
  }

  /** The events behind a position, at most a number of them. */
  async page(accountId: string, after: string, limit: number, wanted: Wanted): Promise<FeedPage> {
    const before = positionsFrom(await this.settled());
    const entries: FeedEntry[] = [];
    let position = after;
    let bytes = 0;
    for (let round = 0; round < MAX_ROUNDS && position < before; round += 1) {
      const { heads, end } = await this.heads(accountId, position, before);
      const asked = heads.filter((head) => !head.is_test && wanted.mayMatch(head));
      for (const some of inParts(asked, OPENED_AT_ONCE)) {
        const opened = await this.opened(accountId, some);
        for (const { id, position, payload_bytes } of some) {
          const event = opened.get(id);
          bytes += payload_bytes;
          if (event && (event.altered || wanted.matches(event.event))) entries.push({ ...event, position });
          if (entries.length === limit || bytes >= MAX_BYTES)
            return { entries, after: position, isEnd: false };
        }
      }
      position = end;
    }
    return { entries, after: position, isEnd: position >= before };
  }

  /** A position right before an event: what is read after it begins with the event. */
  async beforeEvent(eventId: string): Promise<string> {
    const late = await this.feed.lateOf([eventId]);
    return justBefore(late.get(eventId) ?? positionOf(eventId));
  }

  /** Events with their payloads, by id, whether somebody has altered them or not. */
  opened(accountId: string, heads: readonly Pick<EventHead, 'id'>[]): Promise<Map<string, OpenedEvent>> {
    return this.records.eventsOf(
      accountId,
      heads.map(({ id }) => id),
    );
  }

  /** Events between two positions, in their order, tests too. @returns also where those end that were looked at */
  async heads(accountId: string, after: string, before: string) {
    const [stored, moved] = await Promise.all([
      this.records.eventHeads(accountId, { after, before }, HEADS_AT_ONCE),
      this.feed.between(accountId, { after, before }, HEADS_AT_ONCE),
    ]);
    const [lateOf, late] = await Promise.all([
      this.feed.lateOf(stored.map(({ id }) => id)),
      this.records.eventHeads(
        accountId,
        moved.map(({ id }) => id),
        HEADS_AT_ONCE,
      ),
    ]);
    const positions = new Map(moved.map(({ id, position }) => [id, position]));
    const lastOf = (found: { position: string }[]) =>
      found.length < HEADS_AT_ONCE ? before : (found.at(-1)?.position ?? before);
    const inPlace = stored.map((head) => ({ ...head, position: positionOf(head.id) }));
    const end = [lastOf(inPlace), lastOf(moved)].sort()[0] ?? before;
    const heads = [
      ...inPlace.filter(({ id }) => !lateOf.has(id)),
      ...late.map((head) => ({ ...head, position: positions.get(head.id) ?? '' })),
    ]
      .filter(({ position }) => position <= end)
      .sort((a, b) => (a.position < b.position ? -1 : 1));
    return { heads, end };
  }

  /** No process stores an event before this time any more without giving it a later position. */
  private async settled(): Promise<number> {
    const first = await this.earliest();
    // Said before it is looked who may still store: a process that comes later hears of it.
    const isKnown = await this.feed.announce(first);
    return isKnown ? first : Math.min(first, await this.earliest());
  }

  private async earliest(): Promise<number> {
    const all = await this.starters.all();
    return all.length === 0 ? 0 : Math.min(...all.map(({ settled }) => settled));
  }
}
