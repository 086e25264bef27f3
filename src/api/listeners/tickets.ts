import type { SecretBox } from '../../domain/access/secret-box.js';
import { TICKET_MS } from '../../domain/listener/listener.js';

/** What a ticket allows: to connect to the stream of one listener. */
export interface Ticket {
  account_id: string;
  endpoint_id: string;
}

const context = (endpointId: string) => `listener-ticket:${endpointId}`;

/** Makes a ticket, which any process of the installation can check. @param now milliseconds since the epoch */
export function newTicket(box: SecretBox, { account_id, endpoint_id }: Ticket, now: number) {
  const expires_at = now + TICKET_MS;
  const ticket = box.seal(JSON.stringify({ account_id, expires_at }), context(endpoint_id));
  return { ticket, expires_at: new Date(expires_at).toISOString() };
}

/** @returns `undefined` if the ticket is not valid for this listener, or not any more */
export function readTicket(
  box: SecretBox,
  text: string,
  endpoint_id: string,
  now: number,
): Ticket | undefined {
  try {
    const { account_id, expires_at } = JSON.parse(box.open(text, context(endpoint_id))) as {
      account_id: string;
      expires_at: number;
    };
    return expires_at > now ? { account_id, endpoint_id } : undefined;
  } catch {
    return undefined;
  }
}
