import { createHash } from 'node:crypto';
import type { DeliveryKey } from '../basics/delivery-id.js';

/** The headers of W3C Trace Context. The second is for those that know it, and nothing without the first. */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string | undefined;
}

/** A position in a trace, as W3C Trace Context has it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** Whether the caller recorded it. */
  isSampled: boolean;
}

/**
 * Version 00; of later versions, what version 00 has (https://www.w3.org/TR/trace-context/#versioning-of-traceparent).
 */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const SAMPLED = 1;

/** Reads a `traceparent` header; `undefined` if it is not a valid one: then a new trace begins. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text ?? '') ?? [];
  if (version === undefined || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/**
 * The span id of a delivery. Attempts are made by other processes and days before the delivery is closed and its span
 * recorded, so all of them compute it from what they know.
 *
 * @param traceparent of what the delivery was started by
 */
export function deliverySpanId(traceparent: string, { event_id, endpoint_id }: DeliveryKey): string {
  return createHash('sha256').update(`${traceparent} ${event_id} ${endpoint_id}`).digest('hex').slice(0, 16);
}
