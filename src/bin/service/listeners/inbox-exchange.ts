import type { InboxExchange } from '../../../../activities/http/exchange.js';
import { objectionToSignature } from '../../../domain/delivery/signature.js';
import { MAX_RECEIVED_HEADERS } from '../../../domain/listener/inbox.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { InboxRepository } from '../../../models/endpoint/inboxes.js';

/**
 * Delivers to test inboxes: no address is connected to. A request is signed as any other, verified as subscribers are
 * told to verify it, and kept.
 */
export function createInboxExchange(inboxes: Pick<InboxRepository, 'keep'>): InboxExchange {
  return async ({ account_id, endpoint_id, event_id }, { headers, body = '' }, secrets, form) => {
    const began = performance.now();
    const signature_error = objectionToSignature(secrets, headers, body, sharedNow());
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
