import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { EndpointIncidentResult } from '../../../../workflows/inputs.js';
import type { EndpointKey } from '../../../domain/endpoint/endpoint-key.js';
import type { IncidentOutcome, OpenIncident } from '../../../domain/endpoint/incident.js';
import type { TimelineItem } from '../../../domain/explain/timeline.js';
import { ACCOUNT_ATTRIBUTE, ENDPOINT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { isCurrent } from '../delivery-view.js';
import { oneEvent } from '../history.js';
import { decodeFirst } from '../history-events.js';
import { equals, isBefore } from '../visibility/query.js';
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
  const { data } = await listExecutions(
    client,
    [
      equals('WorkflowType', 'endpointIncident'),
      isCurrent,
      equals(ACCOUNT_ATTRIBUTE.name, account_id),
      equals(ENDPOINT_ATTRIBUTE.name, endpoint_id),
      isBefore('StartTime', until),
    ],
    MAX_INCIDENTS,
    undefined,
  );
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
  const event = await oneEvent(
    client,
    incident,
    proto.temporal.api.enums.v1.HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  );
  const completed = event?.workflowExecutionCompletedEventAttributes;
  return ((await decodeFirst(client, completed?.result?.payloads)) ?? {}) as Partial<EndpointIncidentResult>;
}
