import type { z } from 'zod';
import { inTurns } from '../../../domain/access/in-turns.js';
import { parseDuration, UNITS } from '../../../domain/basics/duration.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { checkEventKinds } from '../../../domain/endpoint/endpoint.js';
import { attemptTimes, MAX_WHAT_IF_DAYS } from '../../../domain/explain/what-if.js';
import { positionsFrom } from '../../../domain/feed/feed.js';
import { Problem } from '../../../domain/http/problem.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { type ApiDependencies, ownerOf } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { invalidRequest } from '../../http/validation.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { examine } from './examine.js';
import { renderCount, whatIfBody, whatIfSchema } from './what-if-view.js';

/** How many requests examine events at once, and how long one waits for its turn. */
const AT_ONCE = { requests: 2, waitMs: 4_000 };

/** Tries a new endpoint on the events of a period. Nothing is stored, and nothing is sent. */
export function whatIfOperations(dependencies: ApiDependencies): Operation[] {
  const { database, feed, settings } = dependencies;
  const inTurn = inTurns(AT_ONCE.requests);
  return [
    operation('post', '/what_if', 'tryEndpoint', {
      summary: 'Count the events of a period that a new endpoint would have received; nothing is sent',
      scope: 'deliveries:read',
      openToReaders: true,
      body: whatIfBody,
      example: {
        event_kinds: ['purchase'],
        filter: { path: '/total', at_least: 100 },
        retry_schedule: ['5s', '5m', '1h'],
        created_after: '2026-11-21T00:00:00Z',
        created_before: '2026-11-28T00:00:00Z',
      },
      responses: { 200: { description: 'The events that it would have received', schema: whatIfSchema } },
      async handle({ account_id, body }, ctx) {
        const { event_kinds, filter, retry_schedule, after } = body;
        const known = await kindNames(database, account_id);
        const errors = checkEventKinds(event_kinds, known);
        if (errors.length > 0) throw invalidRequest(errors);
        const asked = periodOf(body);
        const kept = database.events.keptFrom(account_id, known);
        const from = Math.min(Math.max(asked.from, kept), asked.to);
        const begin = positionsFrom(from);
        const range = {
          after: after !== undefined && after > begin ? after : begin,
          before: positionsFrom(asked.to),
        };
        const requestedAt = performance.now();
        const { count, end } = await inTurn(ownerOf(ctx), async () => {
          if (performance.now() - requestedAt > AT_ONCE.waitMs) throw busy();
          return examine(feed, account_id, { event_kinds, filter }, range);
        });
        const complete = end >= range.before;
        const schedule = retry_schedule?.map(parseDuration) ?? settings.HOOKLINE_RETRY_SCHEDULE;
        return {
          ...renderCount(count),
          attempts: attemptTimes(schedule).map((after_ms, index) => ({ number: index + 1, after_ms })),
          from: iso(from),
          up_to: iso(complete ? asked.to : idTime(end)),
          complete,
          ...(!complete && { next: end }),
        };
      },
    }),
  ];
}

/** The period that a request asks about, milliseconds since the epoch. @throws Problem 400 if there is none */
function periodOf({ created_after, created_before }: z.output<typeof whatIfBody>) {
  const now = sharedNow();
  const to = Math.min(created_before?.getTime() ?? now, now);
  const from = created_after?.getTime() ?? to - UNITS.d;
  const refuse = (detail: string) => invalidRequest([{ pointer: '/created_after', detail }]);
  if (from >= to) throw refuse('must be before created_before, and in the past');
  if (to - from > MAX_WHAT_IF_DAYS * UNITS.d)
    throw refuse(`must be at most ${MAX_WHAT_IF_DAYS} days before created_before`);
  return { from, to };
}

function busy(): Problem {
  const detail = 'Too many requests examine events at the moment. Send it again.';
  return new Problem('unavailable', detail, { headers: { 'retry-after': '5' } });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
