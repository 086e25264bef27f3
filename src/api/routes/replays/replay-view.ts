import { z } from 'zod';
import { REPLAY_ACTIONS, REPLAY_MODES, REPLAY_STATES } from '../../../domain/replay/replay.js';
import { timeSchema as time } from '../../http/schemas.js';

const count = z.int();
const sample = z.array(z.string()).describe('The first ids, at most 10');
const counted = z.object({ count, sample });

export const replaySchema = z
  .object({
    id: z.string(),
    state: z.enum(REPLAY_STATES),
    action: z.enum(REPLAY_ACTIONS),
    mode: z.enum(REPLAY_MODES).optional(),
    registration: z.string().optional().describe('Of missed: now, then, or the time of as_of'),
    filter: z
      .record(z.string(), z.unknown())
      .describe('As asked for; of a business key its name. created_after and created_before are the period'),
    rate: z.int().describe('Deliveries per second, at most'),
    found: count.describe('Deliveries found so far: done, skipped, failed, and those that come next'),
    done: count,
    skipped: count.describe(
      'Not what they were any more when their turn came, or their endpoint was deleted',
    ),
    failed: count.describe('Temporal refused, or the event is not kept any more'),
    failures: z
      .array(z.object({ id: z.string(), detail: z.string() }))
      .optional()
      .describe('The first failures, at most 10'),
    up_to: time.optional().describe('Up to when events have been looked through'),
    interventions: z
      .array(z.object({ action: z.enum(['pause', 'resume', 'cancel']), at: time, by: z.string() }))
      .optional(),
    by: z.string().describe('Who started it: an API key or OAuth client'),
    reason: z.string().optional(),
    created_at: time,
    closed_at: time.optional(),
    workflow_id: z.string(),
    run_id: z.string(),
  })
  .meta({ id: 'Replay' });

export const previewSchema = z
  .object({
    dry_run: z.literal(true),
    found: count.describe('Deliveries that it would find'),
    skipped: count.describe('Those of them whose endpoint was deleted'),
    sample,
    complete: z
      .boolean()
      .describe('false: there are more, as counting took too long; up_to says how far it came'),
    up_to: time,
    never_sent: count.optional().describe('Of missed: those of found that the endpoint never had'),
    difference: z
      .object({
        compared_with: z.string().describe('The other registration: then, or now'),
        added: counted.describe('Events that the other registration does not select'),
        left_out: counted.describe('Events that only the other registration selects'),
      })
      .optional()
      .describe('Of missed: what the choice of the registration changes, among events that it never had'),
  })
  .meta({ id: 'ReplayPreview' });
