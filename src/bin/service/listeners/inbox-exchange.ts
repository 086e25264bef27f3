import { Webhook } from 'standardwebhooks';
import type { InboxExchange } from '../../../../activities/http/exchange.js';
import { schemeOf, sign } from '../../../domain/delivery/signature.js';
import { MAX_RECEIVED_HEADERS } from '../../../domain/listener/inbox.js';
import type { InboxRepository } from '../../../models/endpoint/inboxes.js';

/**
 * Delivers to test inboxes: no address is connected to. A request is signed as any other, verified as subscribers are
 * told to verify it, and kept.
 */
export function createInboxExchange(inboxes: Pick<InboxRepository, 'keep'>): InboxExchange {
  return async ({ account_id, endpoint_id, event_id }, { headers, body = '' }, secrets, form) => {
    const began = performance.now();
    const signature_error = whatIsWrong(secrets, headers, body);
    const kept = {
      ...{ endpoint_id, event_id, form, headers: bounded(headers), body_bytes: Buffer.byteLength(body) },
      ...(signature_error !== undefined && { signature_error }),
    };
    const isKept = await inboxes.keep(account_id, kept).then(
      () => true,
      () => false,
    );
    const trace = { timings: { first_byte: Math.round(performance.now() - began) } };
    if (!isKept)
      return { error_code: 'connection_failed', error: 'the test inbox could not be written', trace };
    const statusCode = signature_error === undefined ? 200 : 401;
    return { statusCode, headers: {}, body: '', bodyBytes: 0, isCut: false, trace };
  };
}

/** Why none of the secrets verifies a request; `undefined` if one does. */
function whatIsWrong(
  secrets: readonly string[],
  headers: Record<string, string>,
  body: string,
): string | undefined {
  let wrong: string | undefined = 'The endpoint has no secret.';
  for (const secret of secrets) {
    try {
      // The library knows shared secrets alone.
      if (schemeOf(secret) === 'v1') new Webhook(secret).verify(body, headers);
      else if (!isSignedByPair(secret, headers, body)) throw new Error('No matching signature found');
      return undefined;
    } catch (error) {
      wrong = (error as Error).message;
    }
  }
  return wrong;
}

/** Signatures of a key pair are the same whenever they are made. */
function isSignedByPair(secret: string, headers: Record<string, string>, body: string): boolean {
  const {
    'webhook-id': id = '',
    'webhook-timestamp': timestamp = '',
    'webhook-signature': given = '',
  } = headers;
  return given.split(' ').includes(sign([secret], id, Number(timestamp), body));
}

/** Headers, up to the number that is stored. */
function bounded(headers: Record<string, string>): Record<string, string> {
  let left = MAX_RECEIVED_HEADERS;
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => {
      left -= name.length + value.length;
      return left >= 0;
    }),
  );
}
