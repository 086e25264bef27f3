import type { Alert, AlertChannel } from '../../src/domain/alert/alert.js';
import type { AlertDigest } from '../../src/domain/alert/alert-inbox.js';
import type { AlertMessage } from '../../src/domain/alert/alert-text.js';
import { renderAlerts } from '../../src/domain/alert/alert-text.js';
import type { EndpointDirectory } from '../endpoint/endpoint-directory.js';

/**
 * Sends a message to people. @param id the same whenever the same message is sent again
 * @throws Error without anything secret in it, if the message was not taken
 */
export type AlertSender = (message: AlertMessage, id: string) => Promise<void>;

/** The channels that are configured. */
export type AlertSenders = Partial<Record<AlertChannel, AlertSender>>;

/** A message to send. A Temporal payload. */
export interface AlertRequest extends AlertDigest {
  channel: AlertChannel;
}

interface SendAlertsDependencies {
  alerts: AlertSenders;
  endpoints: Pick<EndpointDirectory, 'load'>;
}

/** Sends a message over a channel. One that is not configured any more takes nothing. */
export function createSendAlerts({ alerts: senders, endpoints }: SendAlertsDependencies) {
  return async function sendAlerts({ channel, alerts, left_out }: AlertRequest): Promise<void> {
    const current = await Promise.all(alerts.map(isCurrent));
    const digest = { alerts: alerts.filter((_, index) => current[index]), left_out };
    if (digest.alerts.length === 0 && left_out === 0) return;
    const id = `${alerts[0]?.id ?? 'alerts'}.${alerts.length}`;
    await senders[channel]?.(renderAlerts(digest), id);
  };

  /**
   * An endpoint that was paused or deleted while its failure was held is failing no more, and nobody was told of an
   * end.
   */
  async function isCurrent({ kind, account_id, endpoint_id }: Alert): Promise<boolean> {
    if (kind !== 'endpoint.failing' || account_id === undefined || endpoint_id === undefined) return true;
    return (await endpoints.load(account_id, endpoint_id))?.failing !== undefined;
  }
}
