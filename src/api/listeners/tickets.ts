import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { TICKET_MS } from '../../domain/listener/listener.js';
import { CALLER_TYPES } from '../http/caller/caller.js';

const context = (endpointId: string) => `listener-ticket:${endpointId}`;

const sealedSchema = z.object({
  id: z.string(),
  account_id: z.string(),
  expires_at: z.number(),
  credential: z.object({ type: z.enum(CALLER_TYPES), token_hash: z.string() }),
});

/** Permission to connect once to the stream of one listener, as long as the token that it was issued to allows it. */
export type Ticket = Omit<z.output<typeof sealedSchema>, 'expires_at'> & { endpoint_id: string };

/** Makes a ticket, which any process of the installation can check. @param now milliseconds since the epoch */
export function newTicket(
  box: SecretBox,
  { account_id, endpoint_id, credential }: Omit<Ticket, 'id'>,
  now: number,
) {
  const expires_at = now + TICKET_MS;
  const sealed = sealedSchema.parse({ id: randomUUID(), account_id, expires_at, credential });
  return {
    ticket: box.seal(JSON.stringify(sealed), context(endpoint_id)),
    expires_at: new Date(expires_at).toISOString(),
  };
}

/** @returns `undefined` if the ticket is not valid for this listener, or not any more */
export function readTicket(
  box: SecretBox,
  text: string,
  endpoint_id: string,
  now: number,
): Ticket | undefined {
  try {
    const { expires_at, ...ticket } = sealedSchema.parse(JSON.parse(box.open(text, context(endpoint_id))));
    return expires_at > now ? { ...ticket, endpoint_id } : undefined;
  } catch {
    return undefined;
  }
}
