import type { Client } from '@temporalio/client';
import type { EndpointIncidentResult } from '../../../../workflows/inputs.js';
import type { EndpointKey } from '../../../domain/endpoint/endpoint-key.js';
import type { IncidentOutcome, OpenIncident } from '../../../domain/endpoint/incident.js';
import type { TimelineItem } from '../../../domain/explain/timeline.js';
import { closingEvent, decodeFirst } from '../history.js';
import { where } from '../visibility/clauses.js';
import { isBefore } from '../visibility/query.js';
import { type Execution, listExecutions } from '../visibility/visibility.js';

/** An endpoint's incidents are looked through as far back as this, the newest first. */
const MAX_INCIDENTS = 50;

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
