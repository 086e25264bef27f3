import { EndpointConditions } from '../../../src/domain/endpoint/breaker/endpoint-conditions.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import { type IncidentOptions, Incidents } from '../../../src/temporal/write/incidents.js';

/** A process that reports what comes of attempts, with what it knows of endpoints. */
export function reporter(settings: Omit<IncidentOptions, 'timings' | 'mark'> & Partial<IncidentOptions>) {
  const all = { timings: TIMINGS, mark: async () => {}, ...settings };
  const conditions = new EndpointConditions({ ...all, slowMs: 2_000, maxDirect: 1_000 });
  return { conditions, incidents: new Incidents(all, conditions) };
}
