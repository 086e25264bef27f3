import { z } from 'zod';
import { ERASURE_STATUSES, OPEN_RULES } from '../../../domain/privacy/erasure.js';
import { timeSchema as time } from '../../http/schemas.js';

const count = z.number().int();

/** An erasure's certificate, as the HTTP interface shows it. */
export const erasureSchema = z
  .object({
    id: z.string(),
    status: z
      .enum(ERASURE_STATUSES)
      .describe(
        'waiting: for open deliveries to end; erased: the key is deleted; complete: nothing of the subject is open either',
      ),
    open: z.enum(OPEN_RULES),
    requested_at: time,
    requested_by: z.string().describe('The API key or OAuth client that asked for it'),
    erased_at: time.optional().describe('When the key was deleted'),
    completed_at: time.optional(),
    reapplied_at: time
      .optional()
      .describe('When a restored backup had brought the key back, and it was deleted again'),
    key: z
      .object({ id: z.string(), created_at: time })
      .describe('The data key. Everything that it encrypted names it, and cannot be read without it'),
    covered: z
      .object({ events: count, deliveries: count, open_deliveries: count })
      .describe('What Temporal held of the subject when the erasure was requested'),
    cancelled_deliveries: count.describe('Open deliveries that were cancelled because of it'),
  })
  .meta({ id: 'Erasure' });
