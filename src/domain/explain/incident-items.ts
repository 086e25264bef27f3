import type { EndpointIncident, IncidentOutcome } from '../endpoint/breaker/incident.js';
import type { TimelineItem } from './timeline.js';

const ENDS: Record<IncidentOutcome, string> = {
  recovered: 'The endpoint responded again: its incident ended.',
  disabled: 'The endpoint was disabled, because it had failed for too long: its incident ended.',
  lapsed: 'The incident of the endpoint lapsed: nothing had been sent to it for long.',
  superseded: 'The endpoint was paused, disabled or deleted: its incident ended.',
};

/**
 * Beginnings and ends of an endpoint's incidents, as a timeline shows them.
 *
 * @param from what was before is left out
 * @param until what was after is left out
 */
export function incidentItems(
  incidents: readonly EndpointIncident[],
  from: Date,
  until: Date,
): TimelineItem[] {
  const isWithin = ({ at }: TimelineItem) => at >= from.toISOString() && at <= until.toISOString();
  return incidents.flatMap(itemsOf).filter(isWithin);
}

function itemsOf({ began_at, ended_at, outcome }: EndpointIncident): TimelineItem[] {
  const item = (at: Date, text: string): TimelineItem => ({ at: at.toISOString(), type: 'incident', text });
  return [
    item(began_at, 'The endpoint began to fail: an incident opened.'),
    ...(ended_at && outcome ? [item(ended_at, ENDS[outcome])] : []),
  ];
}
