import { z } from 'zod';
import { VERDICT_CODES } from '../../../domain/explain/verdict.js';
import { timeSchema as time } from '../../http/schemas.js';
import { attemptSchema, deliverySummarySchema } from '../deliveries/delivery-view.js';
import { eventSummarySchema } from '../events/event-view.js';

export const verdictSchema = z
  .object({
    code: z.enum(VERDICT_CODES).describe('Stable: depend on it'),
    summary: z.string().describe('Human-readable, with the evidence'),
    since: time.optional(),
    by: z
      .string()
      .optional()
      .describe('Who: the id of an API key or OAuth client, operator, subscriber or a part of Hookline'),
    next_attempt_at: time.optional(),
    clauses: z
      .array(
        z.object({
          clause: z.string().describe('JSON Pointer into the filter as it was'),
          path: z.string().optional().describe('JSON Pointer into the payload'),
          condition: z.record(z.string(), z.unknown()),
          found: z
            .union([z.string(), z.number(), z.boolean(), z.null()])
            .optional()
            .describe('Absent if the payload has nothing there, or no scalar'),
        }),
      )
      .optional()
      .describe('The parts of the filter that the payload did not meet'),
    endpoint_id: z.string(),
    event: eventSummarySchema.optional().describe('Absent if there is no such event'),
    delivery: deliverySummarySchema
      .pick({ id: true, status: true, next_attempt_at: true, closed_at: true })
      .extend({
        attempts: z.number().int().describe('How many have been made'),
        last_attempt: attemptSchema.optional(),
      })
      .optional()
      .describe('Absent if there is none, and if its record cannot be read because its workflow fails'),
    other_events: z
      .array(z.string())
      .optional()
      .describe('Events with the same key, newest first, at most 10; the verdict is about the newest of all'),
  })
  .meta({
    id: 'Verdict',
    examples: [
      {
        code: 'filter_not_met',
        summary:
          "The payload did not meet the endpoint's filter as it was when the event was accepted: /total at_least 100 (the payload has 12.5).",
        clauses: [{ clause: '', path: '/total', condition: { path: '/total', at_least: 100 }, found: 12.5 }],
        endpoint_id: 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN',
        event: {
          id: 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR',
          kind: 'purchase',
          created_at: '2026-11-21T12:00:00.000Z',
        },
      },
    ],
  });
