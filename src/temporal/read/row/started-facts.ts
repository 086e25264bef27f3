import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { ArchiveReads } from '../../../domain/archive/archived.js';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { type AcceptedEvent, isClosed, pickEvent } from '../../../domain/delivery/delivery.js';
import type { LiveGroup } from '../../../domain/delivery/delivery-group.js';
import { hasCode, NOT_FOUND } from '../../server/namespace/call-refused.js';
import { acceptedEventIn } from '../archive/archived-event.js';
import type { DeliverySummary } from '../delivery-view.js';
import { readInput } from '../history.js';

/** Events and inputs that are read at once, for all lists together. */
export const READS_AT_ONCE = 20;
/** Characters of payloads that are remembered, all together and of one event. */
const MAX_CHARACTERS = 8_388_608;
const MAX_CHARACTERS_OF_ONE = 65_536;
/** What an event has besides its payload, about. */
const REST_OF_EVENT = 300;
/** Deliveries of which it is remembered how many attempts they have at most. */
const MAX_DELIVERIES = 20_000;

type Row = Pick<DeliverySummary, 'id' | 'event_id' | 'status' | 'workflow_id' | 'run_id'>;

/**
 * What deliveries were started with, for rows of lists: their events, and how many attempts they have at most. Neither ever changes, so it is remembered; events as
 * they are stored, sealed, so that nothing can be read here of what has been erased.
 */
export class StartedFacts {
  private readonly client: Client;
  private readonly archive: ArchiveReads;
  private readonly events = new LRUCache<string, AcceptedEvent>({
    maxSize: MAX_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS_OF_ONE,
    sizeCalculation: ({ payload }) => payload.length + REST_OF_EVENT,
  });
  private readonly mostAttempts = new LRUCache<string, number>({ max: MAX_DELIVERIES });
  private readonly limit = pLimit(READS_AT_ONCE);
  /** Reads of inputs that are under way, by run. */
  private readonly reading = new Map<string, Promise<LiveGroup | undefined>>();

  constructor(client: Client, archive: ArchiveReads) {
    this.client = client;
    this.archive = archive;
  }

  /** The event of a delivery of an account; `undefined` if nothing is kept of its payload. */
  async event(accountId: string, row: Row): Promise<AcceptedEvent | undefined> {
    const known = this.events.get(row.event_id);
    const event = known ?? (await this.readEvent(accountId, row));
    return event?.account_id === accountId ? event : undefined;
  }

  /** How many attempts an open delivery has at most; `undefined` if its execution is gone. */
  async maxAttempts(row: Row): Promise<number | undefined> {
    const key = `${row.run_id} ${row.id}`;
    if (!this.mostAttempts.has(key)) await this.readStart(row);
    return this.mostAttempts.get(key);
  }

  private async readEvent(accountId: string, row: Row): Promise<AcceptedEvent | undefined> {
    // What is closed is mostly archived, where one event is read and not the group with which it was started.
    const archived = isClosed(row.status)
      ? await this.limit(() => this.archive.event(accountId, row.event_id))
      : undefined;
    if (archived) {
      const event = acceptedEventIn(archived);
      if (event) this.events.set(row.event_id, event);
      return event;
    }
    const events = await this.readStart(row);
    return events.find(({ event_id }) => event_id === row.event_id);
  }

  /** Reads the input of a row's execution, remembers what it says, and returns its events. */
  private async readStart(row: Row): Promise<AcceptedEvent[]> {
    const input = await this.inputOf(row);
    if (!input) return [];
    const { run_id } = row;
    const events = input.events.map(pickEvent);
    for (const event of events) this.events.set(event.event_id, event);
    for (const { event, endpoint_id, schedule = input.schedule } of input.deliveries) {
      const event_id = events[event]?.event_id ?? '';
      this.mostAttempts.set(`${run_id} ${deliveryId({ event_id, endpoint_id })}`, schedule.length + 1);
    }
    return events;
  }

  private inputOf({ workflow_id: workflowId, run_id: runId }: Row): Promise<LiveGroup | undefined> {
    const known = this.reading.get(runId);
    if (known !== undefined) return known;
    const reading = this.limit(() => readInput(this.client, { workflowId, runId }))
      .then((input) => input as LiveGroup)
      .catch((error: unknown) => {
        if (hasCode(error, NOT_FOUND)) return undefined;
        throw error;
      })
      .finally(() => this.reading.delete(runId));
    this.reading.set(runId, reading);
    return reading;
  }
}
