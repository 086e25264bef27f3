import { present } from '../basics/objects.js';

/** An operational event that people are alerted to. A Temporal payload. */
export interface Alert {
  /** The event's id: the same for every repeat. */
  id: string;
  /** One of {@link ALERT_KINDS}. */
  kind: string;
  /** ISO 8601, UTC: when it happened. */
  at: string;
  /** Account and endpoint that it is about; absent if it is about the installation. */
  account_id?: string;
  endpoint_id?: string;
  /** Host of the endpoint's URL; absent if the endpoint was deleted. */
  host?: string;
  /** When the endpoint began to fail. ISO 8601, UTC. */
  since?: string;
  /** The last failure, why it was disabled, or what is wrong; human-readable. */
  said?: string;
}

/** Event kinds that people can be alerted to. */
export const ALERT_KINDS = [
  'endpoint.failing',
  'endpoint.recovered',
  'endpoint.disabled',
  'log.altered',
  'log.refused',
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Where alerts go. */
export const ALERT_CHANNELS = ['mail', 'chat'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

/** An alert from an operational event's payload. */
export function alertOf(
  event: Pick<Alert, 'id' | 'kind' | 'at' | 'account_id'>,
  payload: Record<string, unknown>,
  host: string | undefined,
): Alert {
  const text = (name: string) => (typeof payload[name] === 'string' ? payload[name] : undefined);
  const said = text('reason') ?? text('last_failure');
  return present({ ...event, endpoint_id: text('endpoint_id') ?? '', host, since: text('since'), said });
}
