import { z } from 'zod';

/** What is compared. */
export const CHECKS = ['log', 'shown', 'payload', 'temporal', 'tag'] as const;

export const integritySchema = z
  .object({
    id: z.string(),
    verdict: z
      .enum(['unaltered', 'altered', 'not_proven'])
      .describe(
        'altered: a check says so; not_proven: nothing is altered, but the signed log does not hold it yet',
      ),
    checks: z.array(
      z.object({
        check: z
          .enum(CHECKS)
          .describe(
            'log: the record is the one that the signed log holds. shown: what the API shows is what the record says. payload: it is the one that the record commits to. temporal: Temporal says the same. tag: of a change, what was written has a tag under a key that is not in the database',
          ),
        result: z
          .enum(['same', 'differs', 'unknown'])
          .describe('unknown: there is nothing to compare with, or not yet'),
        detail: z.string().describe('Human-readable; what differs, as JSON Pointers into the record'),
        delivery_id: z.string().optional().describe('Of an event: the delivery whose record was looked at'),
      }),
    ),
  })
  .meta({ id: 'Integrity' });

/** One thing that was compared. */
export type Check = z.output<typeof integritySchema>['checks'][number];
export type Integrity = z.output<typeof integritySchema>;

/** What some checks come to. */
export function integrityOf(id: string, checks: Check[]): Integrity {
  const isAltered = checks.some(({ result }) => result === 'differs');
  const isProven = checks.some(({ check, result }) => check === 'log' && result === 'same');
  const isHeld = isProven && !checks.some(({ check, result }) => check === 'log' && result === 'unknown');
  return { id, verdict: isAltered ? 'altered' : isHeld ? 'unaltered' : 'not_proven', checks };
}
