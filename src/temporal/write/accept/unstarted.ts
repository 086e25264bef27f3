import { UNITS } from '../../../domain/basics/duration.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { LedgerBusyError } from '../../errors.js';

/**
 * Deliveries that wait to be started in a process, and the bytes of their payloads: so much is accepted while Temporal
 * is away. Beyond it, events are refused.
 */
export const MAX_UNSTARTED = 20_000;
export const MAX_UNSTARTED_BYTES = 64 * 1024 * 1024;
/** While more deliveries than these wait, producers are slowed down. */
const BEHIND_FROM = 300;
/** How long an event is looked for of which nobody knows whether it is stored, milliseconds. */
const DOUBTED_MS = 10 * UNITS.m;

interface UnstartedEvent {
  deliveries: number;
  bytes: number;
}

/** Events of this process whose deliveries have not been started. */
export class Unstarted {
  private readonly events = new Map<string, UnstartedEvent>();
  /** Events that have been named, and are about to be stored. */
  private readonly offered = new Set<string>();
  /** Events of which it is not known whether they are stored, until when they are looked for: `performance.now()`. */
  private readonly unsure = new Map<string, number>();
  private deliveries = 0;
  private bytes = 0;

  /** @throws LedgerBusyError if there is no room for so many more */
  checkRoom(deliveries: number, bytes: number): void {
    if (this.deliveries + deliveries <= MAX_UNSTARTED && this.bytes + bytes <= MAX_UNSTARTED_BYTES) return;
    // An event is never too large for an empty process.
    if (this.deliveries > 0) throw new LedgerBusyError('Too many events wait to be started.');
  }

  /** The bound is not reached. */
  get hasRoom(): boolean {
    return this.deliveries < MAX_UNSTARTED && this.bytes < MAX_UNSTARTED_BYTES;
  }

  /** Whether too many deliveries wait to be started, so that producers should slow down. */
  get isBehind(): boolean {
    return this.deliveries > BEHIND_FROM;
  }

  /** The event may be stored from now on. */
  offer(eventId: string): void {
    this.offered.add(eventId);
  }

  add(eventId: string, entry: UnstartedEvent): void {
    this.offered.delete(eventId);
    this.events.set(eventId, entry);
    this.deliveries += entry.deliveries;
    this.bytes += entry.bytes;
  }

  /** The event's deliveries are started, or it is not stored. */
  remove(eventId: string): void {
    this.offered.delete(eventId);
    const entry = this.events.get(eventId);
    if (!entry) return;
    this.events.delete(eventId);
    this.deliveries -= entry.deliveries;
    this.bytes -= entry.bytes;
  }

  /** It is not known whether the event is stored. @param forMs how long it is looked for, milliseconds */
  doubt(eventId: string, forMs = DOUBTED_MS): void {
    this.remove(eventId);
    this.unsure.set(eventId, performance.now() + forMs);
  }

  /** Events to look for. */
  doubted(): string[] {
    return [...this.unsure.keys()];
  }

  /** The event was not stored at a time. If that was long enough after its insert, it will not be. */
  notStored(eventId: string, at: number): void {
    if ((this.unsure.get(eventId) ?? at) < at) this.unsure.delete(eventId);
  }

  /** It is known now that the event is stored. */
  settle(eventId: string): void {
    this.unsure.delete(eventId);
  }

  /** All events with an earlier id have been started. Milliseconds since the epoch, as their ids have it. */
  since(now = sharedNow()): number {
    let since = now;
    for (const id of [...this.offered, ...this.events.keys(), ...this.unsure.keys()])
      since = Math.min(since, idTime(id));
    return since;
  }
}
