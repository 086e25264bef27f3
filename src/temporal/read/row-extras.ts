import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { ArchiveReads } from '../../domain/archive/archived.js';
import type { AttemptCause, Cause } from '../../domain/attempt/cause.js';
import { deliveryId } from '../../domain/basics/delivery-id.js';
import { type AcceptedEvent, isClosed, pickEvent } from '../../domain/delivery/delivery.js';
import type { LiveGroup } from '../../domain/delivery/delivery-group.js';
import { openEvent, payloadBytes } from '../../domain/ledger/sealed-event.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { GRPC, hasCode } from '../errors.js';
import { acceptedEventIn } from './archive/archived-views.js';
import { type LastAttempt, lastOf, resultOf } from './attempt-view.js';
import type { DeliveryRow, DeliverySummary } from './delivery-view.js';
import { readInput } from './history.js';
import type { LedgerSources } from './locate.js';
import type { Located, RowReader } from './row-reader.js';

/** Events and inputs that are read at once, for all lists together. */
export const READS_AT_ONCE = 20;

/** What is remembered. */
const MAX_REMEMBERED = {
  /** Latest attempts of closed deliveries, some 100 bytes each. */
  attempts: 20_000,
  /** Deliveries with how many attempts they have at most. */
  deliveries: 20_000,
  /** Characters of payloads, all together and of one event. */
  characters: 8_388_608,
  charactersOfOne: 65_536,
};
/** What an event has besides its payload, about. */
const REST_OF_EVENT = 300;

/** What lists of deliveries show only if they are asked to, because it is read for each row. */
export const ROW_EXTRAS = ['last_attempt', 'business_keys'] as const;

/** Business keys are not read of larger payloads, bytes: a list would parse a hundred of them. */
export const MAX_KEYED_PAYLOAD_BYTES = 65_536;

export type RowExtra = (typeof ROW_EXTRAS)[number];

/** A row of a list with what it was asked for besides. */
export type ExtendedRow<T extends DeliverySummary = DeliverySummary> = T & {
  /** Of an open one, how many attempts it has at most. */
  max_attempts?: number;
  /**
   * The payload of its event, of which business keys are read; absent if it cannot be read any more, or is too large.
   */
  payload?: string;
};

/** Reads what lists of deliveries are asked for besides. It remembers much of it, so a process has one. */
export class RowExtras {
  private readonly lastAttempts = new LastAttempts();
  private readonly started: StartedFacts;
  private readonly sealer: PayloadSealer;

  constructor({ client, sealer, archive }: Omit<LedgerSources, 'recentGroups'>) {
    this.started = new StartedFacts(client, archive);
    this.sealer = sealer;
  }

  /** What tells the latest attempts of a list, if it is asked for them. */
  attemptsIn(extras: readonly RowExtra[]): LastAttempts | undefined {
    return extras.includes('last_attempt') ? this.lastAttempts : undefined;
  }

  /** Rows of a page with the rest of what was asked for. @param accountOf whose each is */
  complete<T extends DeliverySummary>(
    rows: readonly T[],
    extras: readonly RowExtra[],
    accountOf: (row: T) => string,
  ): Promise<ExtendedRow<T>[]> {
    return Promise.all(
      rows.map(async (row) => {
        const [max_attempts, payload] = await Promise.all([
          extras.includes('last_attempt') && !isClosed(row.status)
            ? this.started.maxAttempts(row)
            : undefined,
          extras.includes('business_keys') ? this.payload(accountOf(row), row) : undefined,
        ]);
        return {
          ...row,
          ...(max_attempts !== undefined && { max_attempts }),
          ...(payload !== undefined && { payload }),
        };
      }),
    );
  }

  private async payload(accountId: string, row: DeliverySummary): Promise<string | undefined> {
    const event = await this.started.event(accountId, row);
    if (!event || payloadBytes(event) > MAX_KEYED_PAYLOAD_BYTES) return undefined;
    return openEvent(this.sealer, event);
  }
}

/** Tells the latest attempts of rows of a list. */
export class LastAttempts {
  /** Of deliveries that are closed, by run and index: they have no further attempt in that run. */
  private readonly closed = new LRUCache<string, LastAttempt>({ max: MAX_REMEMBERED.attempts });

  /**
   * The latest attempt of a row: of an open delivery as its memo tells it, of a closed one as its record does.
   *
   * @param rows reads records, each once for the list
   * @returns `undefined` before the first attempt has ended, and of an open delivery whose memo says something else
   */
  async of(located: Located, rows: RowReader): Promise<LastAttempt | undefined> {
    const { execution, row } = located;
    if (!isClosed(row.summary.status)) return lastInMemo(row);
    const key = `${execution.runId} ${row.index}`;
    const known = this.closed.get(key);
    if (known) return known;
    const last = lastOf((await rows.record(located))?.attempts ?? []);
    if (last && execution.status.name !== 'RUNNING') this.closed.set(key, last);
    return last;
  }
}

function lastInMemo({ state }: DeliveryRow): LastAttempt | undefined {
  const attempt = attemptIn(state?.cause);
  if (attempt) return { number: attempt.number, ...resultOf(attempt) };
  return state?.attempts ? { number: state.attempts } : undefined;
}

function attemptIn(cause: Cause | undefined): AttemptCause | undefined {
  if (cause?.code === 'park_limit') return attemptIn(cause.before);
  return cause?.code === 'attempt' ? cause : undefined;
}

type Row = Pick<DeliverySummary, 'id' | 'event_id' | 'status' | 'workflow_id' | 'run_id'>;

/**
 * What deliveries were started with, for rows of lists: their events, and how many attempts they have at most. Neither
 * ever changes, so it is remembered; events as they are stored, sealed, so that nothing can be read here of what has
 * been erased.
 */
class StartedFacts {
  private readonly client: Client;
  private readonly archive: ArchiveReads;
  private readonly events = new LRUCache<string, AcceptedEvent>({
    maxSize: MAX_REMEMBERED.characters,
    maxEntrySize: MAX_REMEMBERED.charactersOfOne,
    sizeCalculation: ({ payload }) => payload.length + REST_OF_EVENT,
  });
  private readonly mostAttempts = new LRUCache<string, number>({ max: MAX_REMEMBERED.deliveries });
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
        if (hasCode(error, GRPC.notFound)) return undefined;
        throw error;
      })
      .finally(() => this.reading.delete(runId));
    this.reading.set(runId, reading);
    return reading;
  }
}
