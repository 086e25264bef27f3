import { z } from 'zod';
import { ATTEMPT_ERROR_CODES } from '../../../domain/attempt/attempt.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { SHOWN_STATUSES } from '../../../domain/delivery/delivery.js';
import type { InputError } from '../../../domain/http/problem.js';
import {
  DEFAULT_REPLAY_PERIOD_DAYS,
  DEFAULT_REPLAY_RATE,
  MAX_REPLAY_PERIOD_DAYS,
  MAX_REPLAY_RATE,
  REPLAY_ACTIONS,
  REPLAY_MODES,
  selectedStatuses,
} from '../../../domain/replay/replay.js';
import { reasonSchema } from '../../http/origin.js';
import {
  deliveryParameters,
  jsonStatusCode,
  kindParameter,
  type ParameterName,
  timeParameter,
} from '../deliveries/filters.js';

const { endpoint_id, event_id, key } = deliveryParameters;

const filterSchema = z
  .strictObject({
    endpoint_id,
    event_id,
    event_kind: kindParameter,
    key,
    status: z.array(z.enum(SHOWN_STATUSES)).min(1).max(SHOWN_STATUSES.length).optional(),
    error_code: z
      .enum(ATTEMPT_ERROR_CODES)
      .optional()
      .describe('Why the latest attempt had no complete response'),
    status_code: jsonStatusCode.optional().describe('HTTP status of the latest attempt'),
    created_after: timeParameter,
    created_before: timeParameter,
  } satisfies Record<Exclude<ParameterName, 'open'> | 'event_kind', z.ZodType>)
  .describe(
    `Filters of GET /deliveries. The period is at most ${MAX_REPLAY_PERIOD_DAYS} days; without created_after it begins ${DEFAULT_REPLAY_PERIOD_DAYS} days before its end, which is now at the latest`,
  );

export const replayBody = z.strictObject({
  action: z
    .enum(REPLAY_ACTIONS)
    .default('resend')
    .describe('resend: for closed deliveries; retry, cancel, resume: for open ones'),
  mode: z
    .enum(REPLAY_MODES)
    .optional()
    .describe(
      'For resend. failed (default): exhausted, expired and cancelled deliveries. missed: these, and every event that the endpoint never got; it needs endpoint_id and created_after. all: all closed deliveries',
    ),
  filter: filterSchema.default({}),
  registration: z
    .enum(['now', 'then'])
    .optional()
    .describe(
      'For missed: the registration of the endpoint that selects events. now (default): the current one; then: the one at the time of each event',
    ),
  as_of: timeParameter.describe('For missed, instead of registration: the registration at this time'),
  rate: z
    .int()
    .min(1)
    .max(MAX_REPLAY_RATE)
    .default(DEFAULT_REPLAY_RATE)
    .describe('Deliveries per second, at most'),
  dry_run: z.boolean().default(false).describe('Only count what it would do'),
  reason: reasonSchema,
});

export type ReplayBody = z.output<typeof replayBody>;

/** The period that a replay covers. @param now milliseconds since the epoch */
export function periodOf({ filter }: ReplayBody, now: number): { from: Date; to: Date } {
  const to = new Date(Math.min(filter.created_before?.getTime() ?? now, now));
  return { to, from: filter.created_after ?? new Date(to.getTime() - DEFAULT_REPLAY_PERIOD_DAYS * UNITS.d) };
}

/** Contradictions in a replay. @param now milliseconds since the epoch */
export function contradictions(body: ReplayBody, now: number): InputError[] {
  const { action, mode, filter, registration, as_of } = body;
  const { from, to } = periodOf(body, now);
  const errors: InputError[] = [];
  const refuse = (pointer: string, detail: string) => errors.push({ pointer, detail });
  if (action !== 'resend' && mode) refuse('/mode', `must be absent: ${action} acts on open deliveries`);
  if (mode === 'missed') {
    if (!filter.endpoint_id)
      refuse('/filter/endpoint_id', 'is missing: name the endpoint that missed events');
    if (!filter.created_after) refuse('/filter/created_after', 'is missing: say since when');
    for (const name of ['status', 'error_code', 'status_code'] as const)
      if (filter[name] !== undefined) refuse(`/filter/${name}`, 'must be absent: a missed event has none');
    if (registration && as_of) refuse('/as_of', 'must be absent, or registration');
  } else {
    if (registration) refuse('/registration', 'must be absent, unless mode is missed');
    if (as_of) refuse('/as_of', 'must be absent, unless mode is missed');
  }
  if (from >= to) refuse('/filter/created_after', 'must be before created_before, and in the past');
  else if (to.getTime() - from.getTime() > MAX_REPLAY_PERIOD_DAYS * UNITS.d)
    refuse('/filter/created_after', `must be at most ${MAX_REPLAY_PERIOD_DAYS} days before created_before`);
  const statuses = selectedStatuses({ action, ...(mode && { mode }) }, filter.status);
  if (errors.length === 0 && statuses.length === 0)
    refuse('/filter/status', 'must name a status of deliveries that this replay acts on');
  return errors;
}
