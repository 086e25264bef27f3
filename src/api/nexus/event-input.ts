import { z } from 'zod';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import { Problem } from '../../domain/http/problem.js';
import { checkBytes } from '../http/body.js';
import { invalidRequest } from '../http/validation.js';
import type { EventRequest } from '../routes/events/accept-event.js';
import { postedEvent, requestOf } from '../routes/events/batch-body.js';

/** Bytes of an input besides the payload. */
const MAX_REST_BYTES = 64 * 1024;

/** Everything but the payload, which is checked against its kind alone. */
const restSchema = postedEvent.omit({ payload: true });

/**
 * Reads the input of an operation that publishes an event: an event of `POST /events`, whose payload is a JSON value
 * (`payload`) or its text (`payload_json`), which is delivered byte for byte. Without an idempotency key the event has
 * the operation's request id as its key, so an operation that is tried again is accepted once.
 *
 * @throws Problem 400, 413
 */
export function readEventInput(input: unknown, requestId: string): EventRequest {
  const isObject = z.record(z.string(), z.unknown()).safeParse(input);
  if (!isObject.success) throw invalidRequest([{ detail: 'must be an object with kind and payload' }]);
  const { payload, payload_json, ...rest } = isObject.data;
  if ((payload === undefined) === (payload_json === undefined))
    throw invalidRequest([
      { pointer: '/payload', detail: 'or payload_json must be there: send one of them' },
    ]);
  if (payload_json !== undefined && typeof payload_json !== 'string')
    throw invalidRequest([{ pointer: '/payload_json', detail: 'must be a string' }]);
  const body = Buffer.from(payload_json ?? textOf(payload));
  if (body.length > MAX_PAYLOAD_BYTES)
    throw new Problem('payload_too_large', `The payload is larger than ${MAX_PAYLOAD_BYTES} bytes.`);
  const others = Buffer.from(textOf(rest));
  if (others.length > MAX_REST_BYTES)
    throw new Problem(
      'payload_too_large',
      `The input besides the payload is larger than ${MAX_REST_BYTES} bytes.`,
    );
  const event = requestOf(checkBytes(restSchema, others), body);
  return { ...event, idempotencyKey: event.idempotencyKey ?? `nexus-${requestId}` };
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    // The stack is too small to write some of what can be parsed: it is nested too deeply.
    throw new Problem('invalid_request', 'The request is not valid: it is nested too deeply.', { cause });
  }
}
