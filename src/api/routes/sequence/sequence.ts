import { z } from 'zod';
import { countIn, type NumberRange } from '../../../domain/sequence/ranges.js';
import { completenessOf, TooManyNumbersError } from '../../../temporal/read/sequence/completeness.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { timeSchema } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';
import { timeParameter } from '../deliveries/filters.js';

/** Numbers that one response tells of, and ranges of one kind in it; more are counted. */
const MOST = { numbers: 100_000, ranges: 100 };

const range = z.object({ first: z.int(), last: z.int() });
const ranges = (meaning: string) =>
  z.array(range).describe(`${meaning}: ranges, both ends included; the first ${MOST.ranges}`);

const completenessSchema = z
  .object({
    complete: z.boolean().describe('No number is missing, open, lost, contradicted, or that of two events'),
    first: z.int().optional().describe('The first checked number; absent if there are none'),
    last: z.int().optional(),
    event_count: z.int().describe('How many of them events have'),
    void_count: z.int(),
    void: z
      .array(range.extend({ at: timeSchema, leaf_index: z.int().optional() }))
      .describe(
        'Numbers that no event has or will have: a process had reserved them. leaf_index: their leaf in the log; absent until its next run',
      ),
    open_count: z.int(),
    open: ranges('Reserved numbers that may still get events'),
    lost_count: z.int(),
    lost: z
      .array(range.extend({ at: timeSchema, why: z.string() }))
      .describe(
        'Numbers that may have been given to events that are gone. at and why: time and cause, such as a restore from a backup',
      ),
    missing_count: z.int(),
    missing: ranges('Numbers without an event and without an explanation'),
    contradicted_count: z.int(),
    contradicted: ranges('Numbers that were declared void although events have them'),
    twice_count: z.int(),
    twice: ranges('Numbers that two events have'),
  })
  .meta({ id: 'Completeness' });

/** Whether anything was left out of an account's history. */
export function sequenceOperations({ database, restores, numbersTwice }: ApiDependencies): Operation[] {
  return [
    operation('get', '/sequence', 'getSequence', {
      summary: 'Check that no event of a period is missing, by the numbers that events have',
      scope: 'deliveries:read',
      closedToPortal: true,
      query: z.strictObject({
        from: timeParameter.describe('Time of acceptance, inclusive; default: from number 1'),
        to: timeParameter.describe('Exclusive; absent: up to the last given number'),
      }),
      responses: { 200: { description: 'State of each number', schema: completenessSchema } },
      async handle({ account_id, query: { from, to } }) {
        if (from && to && to <= from)
          throw invalidRequest([{ parameter: 'to', detail: 'must be later than from' }]);
        await restores.hasLooked();
        const period = { from, to };
        const found = await completenessOf(database.sequences, account_id, period, MOST.numbers).catch(
          (error: unknown) => {
            if (!(error instanceof TooManyNumbersError)) throw error;
            const detail = `is too early: the period has more than ${MOST.numbers} events. Ask for shorter ones, which overlap`;
            throw invalidRequest([{ parameter: 'from', detail }]);
          },
        );
        await numbersTwice(account_id, found.twice);
        const troubles = [found.missing, found.open, found.lost, found.contradicted, found.twice];
        const voids = found.voids.map(({ first, last, at, leaf_index }) => ({ first, last, at, leaf_index }));
        return {
          complete: troubles.every(({ length }) => length === 0),
          ...found.range,
          event_count: found.events,
          void_count: countIn(found.voids),
          void: voids.slice(0, MOST.ranges),
          open_count: countIn(found.open),
          open: some(found.open),
          lost_count: countIn(found.lost),
          lost: some(found.lost),
          missing_count: countIn(found.missing),
          missing: some(found.missing),
          contradicted_count: countIn(found.contradicted),
          contradicted: some(found.contradicted),
          twice_count: countIn(found.twice),
          twice: some(found.twice),
        };
      },
    }),
  ];
}

function some<R extends NumberRange>(ranges: readonly R[]): R[] {
  return ranges.slice(0, MOST.ranges);
}
