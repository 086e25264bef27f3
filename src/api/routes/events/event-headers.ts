import { z } from 'zod';
import { UNITS } from '../../../domain/basics/duration.js';
import { NAMED_ENDPOINTS_RULE, parseEndpointsHeader } from '../../../domain/delivery/recipients.js';
import { type BusinessKey, parseKeyHeader } from '../../../domain/event/business-keys.js';
import { MAX_ORDER_KEY_LENGTH, parseOrderHeader } from '../../../domain/event/order-key.js';
import { MAX_SUBJECT_LENGTH, parseSubjectHeader } from '../../../domain/event/subject.js';
import { MAX_AHEAD_MS, parseDeliverAfter, parseDeliverAt } from '../../../domain/http/deliver-at.js';
import type { Context } from '../../http/context.js';
import { invalidRequest } from '../../http/validation.js';

/** The form of an idempotency key, and what to send instead. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
export const IDEMPOTENCY_KEY_RULE = 'must be 1 to 255 visible ASCII characters, without spaces';

/** Query parameter that chooses the version of a kind's schema. @param checked when, as its description says it */
export const schemaVersion = (checked: string) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      `Version of the kind's schema that the payload is checked against${checked}; absent for the newest`,
    );

/** Headers of a request that posts one event, as OpenAPI describes them. */
export const EVENT_HEADERS = {
  'Idempotency-Key':
    'A repeat with the same key and body returns the first response and starts nothing twice',
  'Hookline-Key':
    'Business keys that are not in the body, as name=value with commas between: the event can be found by them',
  'Hookline-Subject':
    'The person that the event is about, percent-encoded, if no property of the body is marked x-hookline-subject, or another person is meant: the payload can be erased by it',
  'Hookline-Order-Key':
    'Events with the same key are delivered one after the other to endpoints that ask for it; percent-encoded, if no property of the body is marked x-hookline-order, or another key is meant',
  'Hookline-Endpoints':
    'Ids of the only endpoints that may get the event, with commas between: it goes to those of them that it matches. Without this header it goes to every endpoint that it matches',
};

/** When a scheduled event is to be sent: by its header or its parameter. @throws Problem 400 */
export function readDueAt(ctx: Context, after: string | undefined, now: number): Date {
  const header = ctx.get('hookline-deliver-at').trim();
  if ((header === '') === (after === undefined))
    throw invalidHeader(
      'Hookline-Deliver-At',
      'or deliver_after must say when the event is sent: send one of the two',
    );
  if (after === undefined) return dueAt(parseDeliverAt(header, now), now, 'Hookline-Deliver-At');
  const ms = parseDeliverAfter(after);
  return dueAt(ms === undefined ? undefined : now + ms, now, 'deliver_after');
}

/** @throws Problem 400 for a time that is past, too far ahead, or none */
export function dueAt(at: number | undefined, now: number, parameter: string): Date {
  if (at !== undefined && at >= now && at <= now + MAX_AHEAD_MS) return new Date(at);
  const form =
    parameter === 'deliver_after'
      ? 'seconds or a duration of ISO 8601, such as PT2H or P30D'
      : 'a time, such as 2026-12-24T18:00:00Z';
  throw invalidHeader(
    parameter,
    `must be ${form}, no earlier than now and at most ${MAX_AHEAD_MS / UNITS.d} days ahead`,
  );
}

/** Reads what the headers of a request say about its event. @throws Problem 400 */
export function readEventHeaders(ctx: Context) {
  return {
    idempotencyKey: readIdempotencyKey(ctx),
    keys: readKeys(ctx),
    subject: readSubject(ctx),
    orderKey: readOrderKey(ctx),
    endpointIds: readEndpoints(ctx),
  };
}

function readKeys(ctx: Context): BusinessKey[] {
  if (ctx.req.headers['hookline-key'] === undefined) return [];
  const keys = parseKeyHeader(ctx.get('hookline-key'));
  if (typeof keys === 'string') throw invalidHeader('Hookline-Key', keys);
  return keys;
}

function readSubject(ctx: Context): string | undefined {
  if (ctx.req.headers['hookline-subject'] === undefined) return undefined;
  const subject = parseSubjectHeader(ctx.get('hookline-subject'));
  if (subject !== undefined) return subject;
  const detail = `must be 1 to ${MAX_SUBJECT_LENGTH} characters; percent-encode what is not visible ASCII`;
  throw invalidHeader('Hookline-Subject', detail);
}

function readOrderKey(ctx: Context): string | undefined {
  if (ctx.req.headers['hookline-order-key'] === undefined) return undefined;
  const key = parseOrderHeader(ctx.get('hookline-order-key'));
  if (key !== undefined) return key;
  const detail = `must be 1 to ${MAX_ORDER_KEY_LENGTH} characters; percent-encode what is not visible ASCII`;
  throw invalidHeader('Hookline-Order-Key', detail);
}

function readEndpoints(ctx: Context): string[] | undefined {
  if (ctx.req.headers['hookline-endpoints'] === undefined) return undefined;
  const ids = parseEndpointsHeader(ctx.get('hookline-endpoints'));
  if (ids) return ids;
  throw invalidHeader('Hookline-Endpoints', `${NAMED_ENDPOINTS_RULE}, with commas between`);
}

function readIdempotencyKey(ctx: Context): string | undefined {
  if (ctx.req.headers['idempotency-key'] === undefined) return undefined;
  const key = ctx.get('idempotency-key');
  if (IDEMPOTENCY_KEY.test(key)) return key;
  throw invalidHeader('Idempotency-Key', IDEMPOTENCY_KEY_RULE);
}

function invalidHeader(parameter: string, detail: string) {
  return invalidRequest([{ parameter, detail }]);
}
