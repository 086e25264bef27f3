import { z } from 'zod';
import { TRIGGERS } from '../../../domain/attempt/attempt.js';
import { DELIVERY_STATUSES, SHOWN_STATUSES } from '../../../domain/delivery/delivery.js';
import { TIMELINE_TYPES } from '../../../domain/explain/timeline.js';
import { PAYLOAD_FORMATS } from '../../../domain/sending/payload-format.js';
import { MAX_ASKED } from '../../../domain/view/attempt-view.js';
import { timeSchema as time } from '../../http/schemas.js';

const triggerSchema = z
  .enum(TRIGGERS)
  .describe(
    'released: the endpoint responds again; probe: a check whether it does, which uses up none of the schedule',
  );

export const attemptSchema = z
  .object({
    number: z.int(),
    at: time,
    duration_ms: z.int(),
    webhook_timestamp: z.int().describe('The header that was sent: seconds since the epoch'),
    url: z.string().optional().describe('Where it was sent, without user information'),
    url_host: z.string(),
    endpoint_version: z.int().optional().describe('The version of the endpoint that was read'),
    secret_versions: z
      .array(z.int())
      .optional()
      .describe(
        'Versions of the endpoint that created the signing secrets, newest first: several while a rotation overlaps',
      ),
    address: z.string().optional().describe('The address connected to; absent if there was no connection'),
    timings_ms: z
      .object({
        dns: z.int().optional(),
        connect: z.int().optional(),
        tls: z.int().optional(),
        first_byte: z.int().optional().describe("From the request until the response's headers"),
      })
      .optional()
      .describe(
        'Durations of the steps. Steps that did not happen or did not end are absent: a reused connection has none of the first three',
      ),
    request_bytes: z.int().optional().describe('Size of the body that was sent'),
    format: z
      .enum(PAYLOAD_FORMATS)
      .exclude(['event'])
      .optional()
      .describe('Form in which the event was sent; absent: its payload as it was posted'),
    request_sha256: z
      .string()
      .optional()
      .describe('SHA-256 of the body that was sent, hexadecimal, if it is not the payload'),
    response_bytes: z
      .int()
      .optional()
      .describe("Bytes of the response's body that were read: all of it, or the first 16,384"),
    response_sha256: z
      .string()
      .optional()
      .describe('SHA-256 of these bytes, hexadecimal; absent if there are none'),
    response_cut: z
      .literal(true)
      .optional()
      .describe('Present if the body continues after them: it is longer, or did not end in time'),
    response_length: z
      .int()
      .optional()
      .describe('Complete length of a longer body, by its Content-Length; absent without one'),
    status_code: z.int().optional(),
    error_code: z.string().optional(),
    error: z.string().optional(),
    response_headers: z.record(z.string(), z.string()).optional(),
    response_snippet: z.string().optional(),
    trigger: triggerSchema,
    lost_tries: z
      .int()
      .optional()
      .describe(
        'Earlier tries of this attempt that were lost with their process: their requests may have arrived, too',
      ),
  })
  .meta({ id: 'Attempt' });

export const deliverySummarySchema = z
  .object({
    id: z.string(),
    event_id: z.string(),
    endpoint_id: z.string(),
    event_kind: z.string(),
    sequence: z.int().optional().describe('Number of the event in the sequence of the account'),
    status: z.enum(SHOWN_STATUSES).describe('terminated: by somebody, in Temporal'),
    created_at: time.describe('When the event was accepted'),
    started_at: time.describe('When this run was started'),
    closed_at: time.optional(),
    next_attempt_at: time.optional(),
    reason: z.string().describe('Why it has this status, and what it waits for'),
    workflow_id: z.string(),
    run_id: z.string(),
  })
  .meta({ id: 'DeliverySummary' });

const { number, duration_ms, status_code, error_code } = attemptSchema.shape;

/** Fields that rows of lists have only if they are asked for. */
export const extraFields = {
  last_attempt: z
    .object({
      number,
      duration_ms: duration_ms.optional().describe('Absent while the delivery is open'),
      status_code,
      error_code,
    })
    .meta({ id: 'LastAttempt' })
    .optional()
    .describe(
      'The latest attempt that has ended, on request. Absent if there is none, and for an open delivery whose reason is not an attempt',
    ),
  max_attempts: z
    .int()
    .optional()
    .describe('Number of scheduled attempts of an open delivery, if last_attempt is requested'),
  business_keys: z
    .array(z.object({ name: z.string(), value: z.string() }).meta({ id: 'BusinessKey' }))
    .optional()
    .describe(
      'Values of the properties that the schema of its kind marks as keys, on request. Absent if there are none, and if the payload is unreadable',
    ),
};

export const listedDeliverySchema = deliverySummarySchema
  .extend({
    matching_attempts: z
      .array(
        attemptSchema
          .omit({ response_headers: true, response_snippet: true, timings_ms: true })
          .extend({ run_id: z.string() })
          .meta({ id: 'MatchingAttempt' }),
      )
      .optional()
      .describe(
        `Present if the list is filtered by any_attempt_…: the attempts that match, of all runs, at most ${MAX_ASKED}`,
      ),
  })
  .extend(extraFields)
  .meta({ id: 'ListedDelivery' });

const interventionSchema = z
  .object({
    action: z.enum(['retry', 'cancel', 'pause', 'resume', 'resend', 'replay', 'terminate']),
    at: time,
    by: z.string(),
    replay: z.string().optional().describe('The replay that did it'),
  })
  .meta({ id: 'Intervention' });

const historySchema = z.object({
  attempts: z.array(attemptSchema),
  interventions: z.array(interventionSchema).optional(),
});

export const deliverySchema = deliverySummarySchema
  .extend(historySchema.shape)
  .extend({
    payload_sha256: z.string().optional().describe("SHA-256 of the payload's bytes, hexadecimal"),
    payload_bytes: z.int().optional(),
    payload_erased: z
      .literal(true)
      .optional()
      .describe('Present if the payload is unreadable because its subject was erased'),
    earlier_runs: z
      .array(
        deliverySummarySchema
          .pick({
            run_id: true,
            status: true,
            created_at: true,
            started_at: true,
            closed_at: true,
            reason: true,
          })
          .extend(historySchema.shape),
      )
      .optional()
      .describe('The runs before the delivery was resent, newest first'),
  })
  .meta({ id: 'Delivery' });

export const timelineSchema = z
  .object({
    data: z.array(
      z
        .object({
          at: time.describe('Time; the beginning of an attempt'),
          type: z.enum(TIMELINE_TYPES),
          text: z.string().describe('Human-readable'),
          workflow_id: z.string().optional(),
          run_id: z.string().optional(),
          number: z.int().optional(),
          trigger: triggerSchema.optional(),
          duration_ms: z.int().optional(),
          url: z.string().optional(),
          status_code: z.int().optional(),
          error_code: z.string().optional(),
          next_attempt_at: time.optional().describe('End of a wait'),
          action: interventionSchema.shape.action.optional(),
          by: z.string().optional(),
          replay: z.string().optional().describe('The replay that took the action'),
          status: z.enum(SHOWN_STATUSES).optional().describe('Final status, in the last entry of a run'),
        })
        .meta({ id: 'TimelineItem' }),
    ),
  })
  .meta({ id: 'Timeline' });

export const resendSchema = z.object({ id: z.string(), run_id: z.string() }).meta({ id: 'Resend' });

export const deliveryRecordSchema = z
  .object({
    id: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.array(attemptSchema),
    next_attempt_at: time.optional(),
    closed_at: time.optional(),
    reason: z.string().optional(),
    interventions: z.array(interventionSchema).optional(),
  })
  .meta({ id: 'DeliveryRecord' });
