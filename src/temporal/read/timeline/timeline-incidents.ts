import type { Client } from '@temporalio/client';
import type { EndpointIncidentResult } from '../../../../workflows/inputs.js';
import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import type { EndpointKey } from '../../../domain/endpoint/endpoint-key.js';
import type { IncidentOutcome, OpenIncident } from '../../../domain/endpoint/incident.js';
import type { TimelineItem } from '../../../domain/explain/timeline.js';
import { ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { sharedDate, sharedNow } from '../../../domain/time/shared-time.js';
import { closingEvent, decodeFirst } from '../history.js';
import { EVERY_ACCOUNT, where } from '../visibility/clauses.js';
import { isBefore } from '../visibility/query.js';
import { type Execution, everyExecution, listExecutions } from '../visibility/visibility.js';

/** An endpoint's incidents are looked through as far back as this, the newest first. */
const MAX_INCIDENTS = 50;
/** How long the list of endpoints with incidents is used, milliseconds. */
const LISTED_FOR_MS = 10_000;

const ENDS: Record<IncidentOutcome, string> = {
  recovered: 'The endpoint answered again: its incident ended.',
  disabled: 'The endpoint was disabled, because it had failed for too long: its incident ended.',
  lapsed: 'The incident of the endpoint lapsed: nothing had been sent to it for long.',
  superseded: 'The endpoint was paused, disabled or deleted: its incident ended.',
};

/**
 * When the incidents of an endpoint began and ended.
 *
 * @param from ISO 8601; what was before is left out
 * @param until what was after is left out
 */
export async function readIncidents(
  client: Client,
  { account_id, endpoint_id }: EndpointKey,
  from: string,
  until: Date,
): Promise<TimelineItem[]> {
  const incidents = { type: 'endpointIncident', endpoint: endpoint_id, isCurrent: true } as const;
  const clauses = [...where(account_id, incidents), isBefore('StartTime', until)];
  const { data } = await listExecutions(client, clauses, MAX_INCIDENTS);
  const items = await Promise.all(data.map((incident) => tell(client, incident, from)));
  const isWithin = ({ at }: TimelineItem) => at >= from && at <= until.toISOString();
  return items.flat().filter(isWithin);
}

async function tell(client: Client, incident: Execution, from: string): Promise<TimelineItem[]> {
  const { since = incident.startTime.toISOString() } = (incident.memo?.['incident'] ??
    {}) as Partial<OpenIncident>;
  const began: TimelineItem = {
    at: since,
    type: 'incident',
    text: 'The endpoint began to fail: an incident opened.',
  };
  const at = incident.closeTime?.toISOString();
  if (at === undefined || at < from) return [began];
  const { outcome } = await readOutcome(client, incident);
  return [began, { at, type: 'incident', text: (outcome && ENDS[outcome]) ?? 'Its incident ended.' }];
}

/** With what an incident ended; nothing if it was not by itself. */
async function readOutcome(client: Client, incident: Execution): Promise<Partial<EndpointIncidentResult>> {
  const event = await closingEvent(client, incident);
  const completed = event?.workflowExecutionCompletedEventAttributes;
  return ((await decodeFirst(client, completed?.result?.payloads)) ?? {}) as Partial<EndpointIncidentResult>;
}

/**
 * The incidents of endpoints, for the timelines of many deliveries. Most endpoints have none: one query tells which
 * have, and their incidents are read once.
 */
export class IncidentsOfPeriod {
  private readonly client: Client;
  private readonly since: Date;
  private readonly read = new Map<string, Promise<TimelineItem[]>>();
  private failing: { at: number; endpoints: Promise<Set<string>> } | undefined;

  /** @param since incidents that ended before are not asked for */
  constructor(client: Client, since: Date) {
    this.client = client;
    this.since = since;
  }

  /** As {@link readIncidents}. */
  async of(endpoint: EndpointKey, from: string, until: Date): Promise<TimelineItem[]> {
    const { endpoint_id } = endpoint;
    if (Date.parse(from) < this.since.getTime()) return readIncidents(this.client, endpoint, from, until);
    if (!(await this.withIncidents()).has(endpoint_id)) return [];
    const reading = madeOnce(this.read, endpoint_id, () =>
      readIncidents(this.client, endpoint, this.since.toISOString(), sharedDate()),
    );
    return (await reading).filter(({ at }) => at >= from && at <= until.toISOString());
  }

  private withIncidents(): Promise<Set<string>> {
    const { failing } = this;
    if (failing && sharedNow() - failing.at <= LISTED_FOR_MS) return failing.endpoints;
    const listed = { at: sharedNow(), endpoints: this.list() };
    this.failing = listed;
    this.read.clear();
    listed.endpoints.catch(() => {
      if (this.failing === listed) this.failing = undefined;
    });
    return listed.endpoints;
  }

  private async list(): Promise<Set<string>> {
    const endpoints = new Set<string>();
    const incidents = where(EVERY_ACCOUNT, { type: 'endpointIncident', isCurrent: true, since: this.since });
    for await (const { typedSearchAttributes } of everyExecution(this.client, incidents))
      for (const id of typedSearchAttributes.get(ENDPOINT_ATTRIBUTE) ?? []) endpoints.add(id);
    return endpoints;
  }
}
