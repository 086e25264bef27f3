import { z } from 'zod';
import { type Network, readNetwork } from '../../../../packages/egress/src/addresses/index.js';
import { ATTEMPT_ERROR_CODES } from '../../../domain/attempt/attempt.js';
import { parseDuration, UNITS } from '../../../domain/basics/duration.js';
import { idPattern } from '../../../domain/basics/ids.js';
import { isClosed, SHOWN_STATUSES } from '../../../domain/delivery/delivery.js';
import { MAX_KEY_VALUE_LENGTH, parseKeyFilter } from '../../../domain/event/business-keys.js';
import { EVENT_KIND_NAME, MAX_EVENT_KIND_NAME_LENGTH } from '../../../domain/event/event-kinds.js';
import type { AttemptFilter } from '../../../domain/list/attempt-filter.js';
import type { DeliveryFilter } from '../../../domain/list/delivery-filter.js';
import type { Database } from '../../../models/database.js';
import { durationSchema, listParameter } from '../../http/parameters.js';

/**
 * Query parameters that narrow lists of events and deliveries. They become part of a query, so each has a
 * shape that allows nothing else.
 */

export const kindParameter = z
  .string()
  .max(MAX_EVENT_KIND_NAME_LENGTH)
  .regex(EVENT_KIND_NAME, 'must be the name of an event kind, such as order.shipped')
  .optional();

const eventIdParameter = z
  .string()
  .regex(idPattern('event'), 'must be the id of an event, such as evt_01JD8F…')
  .optional();

const endpointIdParameter = z
  .string()
  .regex(idPattern('endpoint'), 'must be the id of an endpoint, such as ep_01JD8F…')
  .optional();

/** A business key, as `name:value`. */
const keyParameter = z
  .string()
  .transform((text, context) => {
    const key = parseKeyFilter(text);
    if (!key)
      context.addIssue({
        code: 'custom',
        message: `must be name:value, such as order_id:1001; a value has at most ${MAX_KEY_VALUE_LENGTH} characters`,
      });
    return key ?? z.NEVER;
  })
  .optional()
  .meta({
    type: 'string',
    description: 'A business key as name:value, such as order_id:1001',
  });

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error:
    'must be an ISO 8601 time or date, such as 2026-01-31T12:00:00Z, 2026-01-31T13:00:00+01:00 or 2026-01-31',
});

/**
 * The times that a parameter can name, milliseconds since the epoch, the end not included: ids begin with their time as
 * an unsigned number, and texts of times are in order of time while years have four digits.
 */
const TIMES = { from: 0, before: Date.parse('+010000-01-01T00:00:00Z') };

/**
 * A point in time; a date alone is its midnight in UTC. An unencoded `+` arrives as a space (WHATWG URL, section 5.1).
 */
export const timeParameter = z
  .string()
  .transform((text) => text.replace(/ (?=\d\d:\d\d$)/, '+'))
  .pipe(time)
  .transform((text) => new Date(text))
  .refine(
    (at) => at.getTime() >= TIMES.from && at.getTime() < TIMES.before,
    'must be a time from 1970-01-01T00:00:00Z on, and before the year 10000',
  )
  .optional()
  .meta({
    type: 'string',
    description:
      'ISO 8601: a time with Z or an offset; or a date, which stands for its midnight in UTC. From 1970 on',
  });

const STATUS_CODE = 'must be an HTTP status from 100 to 599, such as 503';
const inStatusCodes = (number: z.ZodNumber) =>
  number.int(STATUS_CODE).min(100, STATUS_CODE).max(599, STATUS_CODE);
const statusCode = inStatusCodes(z.coerce.number(STATUS_CODE));
/** The same in JSON. */
export const jsonStatusCode = inStatusCodes(z.number(STATUS_CODE));

/** Each filter has a parameter here; `kindParameter` and `attemptParameters` have the rest. */
export type ParameterName =
  | Exclude<keyof DeliveryFilter, 'key_token' | 'statuses' | 'event_kind' | 'any_attempt'>
  | 'key'
  | 'status'
  | 'open';

/**
 * Filters of deliveries, besides the kind of their event; `GET /events` has them, too. They combine: a delivery must
 * match all that are given.
 */
export const deliveryParameters = {
  endpoint_id: endpointIdParameter,
  event_id: eventIdParameter,
  key: keyParameter,
  status: listParameter(SHOWN_STATUSES, 'One of these statuses, separated by commas'),
  open: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ description: 'true: delivering, retrying or parked; false: closed' }),
  error_code: z
    .enum(ATTEMPT_ERROR_CODES)
    .optional()
    .meta({ description: 'Why the latest attempt had no complete response' }),
  status_code: statusCode.optional().meta({ description: 'HTTP status of the latest attempt' }),
  created_after: timeParameter,
  created_before: timeParameter,
} satisfies Record<ParameterName, z.ZodType>;

/** Networks in one parameter. */
const MAX_NETWORKS = 20;

function networksParameter(description: string) {
  return z
    .string()
    .max(MAX_NETWORKS * 50)
    .transform((text, context): Network[] => {
      const texts = text.split(',');
      const networks = texts.map(readNetwork).filter((one) => one !== undefined);
      if (texts.length <= MAX_NETWORKS && networks.length === texts.length) return networks;
      context.addIssue({
        code: 'custom',
        message: `must be networks or addresses such as 10.0.0.0/8,2001:db8::/32, at most ${MAX_NETWORKS}`,
      });
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', description });
}

/** Filters by single attempts of a delivery, the latest or not. One attempt must match all that are given. */
export const attemptParameters = {
  any_attempt_address: networksParameter(
    'Has an attempt that connected to an address in one of these networks, with commas between. All any_attempt_… must hold of one attempt; matching_attempts has these',
  ),
  any_attempt_not_address: networksParameter(
    'Has an attempt that connected to an address in none of these networks, with commas between',
  ),
  // No attempt takes an hour.
  any_attempt_longer_than: durationSchema(0, UNITS.h)
    .optional()
    .meta({ description: 'Has an attempt that took longer than this, such as 5s or 1500ms' }),
  any_attempt_error_code: z
    .enum(ATTEMPT_ERROR_CODES)
    .optional()
    .meta({ description: 'Has an attempt that had no complete response, for this reason' }),
  any_attempt_status_code: statusCode
    .optional()
    .meta({ description: 'Has an attempt with this HTTP status' }),
};

/** Filter by single attempts; `undefined` if there is none. */
export function readAttemptFilter({
  any_attempt_address: within,
  any_attempt_not_address: outside,
  any_attempt_longer_than: longer,
  any_attempt_error_code: error_code,
  any_attempt_status_code: status_code,
}: z.output<z.ZodObject<typeof attemptParameters>>): AttemptFilter | undefined {
  const longer_than_ms = longer === undefined ? undefined : parseDuration(longer);
  const filter = { within, outside, longer_than_ms, error_code, status_code };
  return Object.values(filter).some((value) => value !== undefined) ? filter : undefined;
}

type DeliveryParameters = z.output<z.ZodObject<typeof deliveryParameters>>;

/** The filter that parameters stand for. */
export async function readFilter(
  { keySecrets }: Pick<Database, 'keySecrets'>,
  accountId: string,
  { status, open, key, ...others }: Partial<DeliveryParameters>,
): Promise<DeliveryFilter> {
  const [key_token] = await keySecrets.tokensOf(accountId, key ? [key] : []);
  return { ...others, key_token, statuses: statusesOf(status, open) };
}

/** The statuses that are asked for; `undefined` if all are. */
export function statusesOf(status: DeliveryParameters['status'], open: boolean | undefined) {
  return open === undefined ? status : (status ?? SHOWN_STATUSES).filter((one) => isClosed(one) !== open);
}
