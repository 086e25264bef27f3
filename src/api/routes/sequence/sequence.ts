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
    complete: z.boolean().describe('No number is missing, open or contradicted'),
    first: z.int().optional().describe('The first number that was looked at; absent if there are none'),
    last: z.int().optional(),
    event_count: z.int().describe('How many of them events have'),
    void_count: z.int(),
    void: z
      .array(range.extend({ at: timeSchema, leaf_index: z.int().optional() }))
      .describe(
        'Numbers that no event has, nor will have: a process had reserved them. leaf_index: where the log says so; absent until the next run of the archive',
      ),
    open_count: z.int(),
    open: ranges('Numbers of which it is not known yet whether events have them'),
    missing_count: z.int(),
    missing: ranges('Numbers that nothing is known of: their events are not there'),
    contradicted_count: z.int(),
    contradicted: ranges('Numbers that were declared void, and that events have all the same'),
  })
  .meta({ id: 'Completeness' });

/** Whether anything was left out of an account's history. */
export function sequenceOperations({ database, events }: ApiDependencies): Operation[] {
  return [
    operation('get', '/sequence', 'getSequence', {
      summary: 'Check that no event of a period is missing, by the numbers that events have',
      scope: 'deliveries:read',
      closedToPortal: true,
      query: z.strictObject({
        from: timeParameter.describe('Of acceptance, included; absent: from number 1'),
        to: timeParameter.describe('Not included; absent: up to the last number that was given away'),
      }),
      responses: { 200: { description: 'What became of each number', schema: completenessSchema } },
      async handle({ account_id, query: { from, to } }) {
        if (from && to && to <= from)
          throw invalidRequest([{ parameter: 'to', detail: 'must be later than from' }]);
        const sources = {
          client: events.sources.client,
          archive: database.archive,
          sequences: database.sequences,
        };
        const found = await completenessOf(sources, account_id, { from, to }, MOST.numbers).catch(
          (error: unknown) => {
            if (!(error instanceof TooManyNumbersError)) throw error;
            const detail = `is too early: the period has more than ${MOST.numbers} events. Ask for shorter ones, which overlap`;
            throw invalidRequest([{ parameter: 'from', detail }]);
          },
        );
        const voids = found.voids.map(({ first, last, at, leaf_index }) => ({ first, last, at, leaf_index }));
        return {
          complete: found.missing.length + found.open.length + found.contradicted.length === 0,
          ...found.range,
          event_count: found.events,
          void_count: countIn(found.voids),
          void: voids.slice(0, MOST.ranges),
          open_count: countIn(found.open),
          open: some(found.open),
          missing_count: countIn(found.missing),
          missing: some(found.missing),
          contradicted_count: countIn(found.contradicted),
          contradicted: some(found.contradicted),
        };
      },
    }),
  ];
}

function some(ranges: readonly NumberRange[]): NumberRange[] {
  return ranges.slice(0, MOST.ranges);
}
