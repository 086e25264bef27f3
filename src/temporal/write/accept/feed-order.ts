import { setTimeout as delay } from 'node:timers/promises';
import { idTime } from '../../../domain/basics/id-time.js';
import { newId } from '../../../domain/basics/ids.js';
import { type FeedEvent, type FeedPlaces, positionOf } from '../../../domain/feed/feed.js';
import { sharedNow } from '../../../domain/time/shared-time.js';

/** How often it is tried again to give events their positions, milliseconds. */
const AGAIN_MS = 500;
/** How far the feed may be behind this process for those who read it here, milliseconds. */
const FRESH_MS = 100;

/**
 * Keeps the feed in order. Events stand in it by their ids, which sort by time but are made before the insert. So each
 * process says with its heartbeat from which time on it may still store events (*settled*), and readers go no further
 * than the earliest of these times. Whatever is stored for an earlier time is *late*: it gets a position behind all
 * that may have been read, before its producer is answered.
 *
 * A process that stood still may have been taken for dead meanwhile: then readers did not wait for it. Its next
 * heartbeat tells, so all that it has stored since the one before is late. If a heartbeat is overdue, producers are
 * answered after the next one.
 */
export class FeedOrder {
  private readonly places: FeedPlaces;
  private readonly say: (settled: number) => Promise<string>;
  private readonly leaseMs: number;
  /** Ids and positions that are about to be stored, none before {@link settled}. */
  private readonly inFlight = new Set<string>();
  /** Stored since the heartbeat that others are known to have seen. */
  private unconfirmed: FeedEvent[] = [];
  /** Time that was said last, milliseconds since the epoch. It only goes forward, whatever the clock does. */
  private settled = 0;
  /** When the last heartbeat began that was written: `performance.now()`. */
  private saidAt = Number.NEGATIVE_INFINITY;
  private readonly now: () => number;
  /** Names the time in which others have seen this process without a break. */
  private life: string | undefined;
  private saying: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  /**
   * @param say writes a heartbeat; resolves to another text once the process was taken for dead
   * @param deadAfterMs after which without a heartbeat others may do so
   */
  constructor(
    places: FeedPlaces,
    say: (settled: number) => Promise<string>,
    deadAfterMs: number,
    now: () => number = sharedNow,
  ) {
    this.now = now;
    this.places = places;
    this.say = say;
    this.leaseMs = deadAfterMs / 2;
  }

  /** The event is about to be stored. */
  begin(eventId: string): void {
    if (idTime(eventId) >= this.settled) this.inFlight.add(eventId);
  }

  /** It is not stored, or nobody knows: if it turns out to be, it is late. */
  end(eventId: string): void {
    this.inFlight.delete(eventId);
  }

  /** The event is stored. Resolves when it has its place, for good. */
  async stored(event: FeedEvent): Promise<void> {
    if (!this.inFlight.delete(event.event_id)) return this.placeLate([event]);
    this.unconfirmed.push(event);
    while (performance.now() - this.saidAt > this.leaseMs && this.unconfirmed.includes(event))
      await this.beat().catch(() => delay(AGAIN_MS));
  }

  /** Writes a heartbeat if none was written for a moment, for somebody who reads the feed. */
  async refresh(): Promise<void> {
    if (performance.now() - this.saidAt > FRESH_MS) await this.beat();
  }

  /** Writes a heartbeat, after the one that is under way. Those who ask meanwhile share it. */
  beat(): Promise<void> {
    this.next ??= this.saying
      .catch(() => {})
      .then(() => {
        this.next = undefined;
        return this.beatOnce();
      });
    this.saying = this.next;
    return this.next;
  }

  private async beatOnce(): Promise<void> {
    const at = performance.now();
    const times = [...this.inFlight].map(idTime);
    this.settled = Math.max(this.settled, Math.min(this.now(), ...times));
    const before = this.unconfirmed.length;
    const life = await this.say(this.settled);
    if (life !== this.life) await this.rejoin(life);
    else this.unconfirmed.splice(0, before);
    this.saidAt = at;
  }

  /** Nobody has waited for this process: what it has not stored by now, or stored since, may have been read past. */
  private async rejoin(life: string): Promise<void> {
    // In this order: readers say how far they go before they look whom they have to wait for.
    const read = await this.places.readUntil();
    this.settled = Math.max(this.settled, read);
    this.inFlight.clear();
    this.life = life;
    await this.placeLate(this.unconfirmed.splice(0));
  }

  /** Gives events positions behind all that may have been read, again until it is known that they are. */
  private async placeLate(events: readonly FeedEvent[]): Promise<void> {
    for (let left = [...events]; left.length > 0; ) {
      const late = left.map((event) => {
        const position = positionOf(newId('event', Math.max(this.now(), this.settled)));
        this.inFlight.add(position);
        return { event, position };
      });
      const isStored = await this.places.place(late).then(
        () => true,
        () => delay(AGAIN_MS, false),
      );
      left = [];
      // One that is not in flight any more was placed too late itself.
      for (const { event, position } of late)
        if (this.inFlight.delete(position) && isStored) this.unconfirmed.push(event);
        else left.push(event);
    }
  }
}
