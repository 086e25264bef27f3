import type { Hookline, paths, Schemas } from '../../../clients/typescript/src/index.js';
import { formatInUnits, UNITS } from '../../domain/basics/duration.js';
import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { note, plain, print, printJson, table } from './terminal.js';
import { parseGiven, periodOf, readGiven, textOf } from './values.js';

type WhatIfPart = Schemas['WhatIf'];
type LeftOutReason = keyof WhatIfPart['left_out'];
type WhatIfQuestion = paths['/v18.0/what_if']['post']['requestBody']['content']['application/json'];

const REASONS: Readonly<Record<LeftOutReason, string>> = {
  event_kind: 'are of another kind',
  filter: 'do not match the filter',
  named_endpoints: 'were for the endpoints that their producer named',
  payload_unavailable: 'cannot be judged: their payload cannot be read any more',
};

/** Counts the events of a period that a new endpoint would have received. */
export async function whatIf(values: Values): Promise<void> {
  const kinds = textOf(values, 'kinds');
  if (kinds === undefined)
    throw new CommandError('Name the kinds: hookline what-if --kinds purchase --since 7d');
  const filter = textOf(values, 'filter');
  const schedule = textOf(values, 'schedule');
  const { created_after, created_before } = periodOf(values);
  const until = Date.parse(created_before ?? new Date().toISOString());
  const parts: WhatIfPart[] = [];
  const question = {
    event_kinds: kinds.split(','),
    ...(filter !== undefined && { filter: parseGiven(await readGiven(filter)) }),
    ...(schedule !== undefined && { retry_schedule: schedule.split(',').filter(Boolean) }),
    // The same period in each request.
    created_after: created_after ?? new Date(until - UNITS.d).toISOString(),
    created_before: created_before ?? new Date(until).toISOString(),
  };
  for await (const part of answers(await client(), question)) {
    if (values['json'] === true) printJson(part);
    parts.push(part);
  }
  if (values['json'] !== true) show(parts);
}

/** Asks until the whole period has been examined. */
async function* answers(hookline: Hookline, question: WhatIfQuestion): AsyncIterable<WhatIfPart> {
  let after: string | undefined;
  do {
    const body = { ...question, ...(after !== undefined && { after }) };
    const answer: WhatIfPart = await hookline.post('/v18.0/what_if', { body });
    yield answer;
    after = answer.next;
  } while (after !== undefined);
}

function show(parts: readonly WhatIfPart[]): void {
  const sumOf = (count: (part: WhatIfPart) => number) => parts.reduce((sum, part) => sum + count(part), 0);
  const events = sumOf((part) => part.events);
  const deliveries = sumOf((part) => part.deliveries.count);
  print(`${deliveries} of ${events} events would have been delivered.`);
  const first = parts.flatMap((part) => part.deliveries.event_ids)[0];
  if (first !== undefined) print(`The first: ${plain(first)}`);
  for (const [reason, text] of Object.entries(REASONS) as [LeftOutReason, string][]) {
    const count = sumOf(({ left_out }) => left_out[reason].count);
    if (count > 0) print(`${count} ${text}.`);
  }
  const days = daysOf(parts);
  if (days.size > 1) {
    print();
    print(
      table(
        ['DAY', 'EVENTS', 'DELIVERIES'],
        [...days].map(([day, counts]) => [day, ...counts.map(String)]),
      ),
    );
  }
  const attempts = parts[0]?.attempts ?? [];
  const last = formatInUnits(attempts.at(-1)?.after_ms ?? 0);
  print(`If every attempt fails, there are ${attempts.length}, the last ${last} after the first.`);
  note('Nothing was sent.');
}

/** Events and deliveries of each day. */
function daysOf(parts: readonly WhatIfPart[]): Map<string, [events: number, deliveries: number]> {
  const days = new Map<string, [number, number]>();
  for (const { day, events, deliveries } of parts.flatMap(({ by_day }) => by_day)) {
    const [before, delivered] = days.get(day) ?? [0, 0];
    days.set(day, [before + events, delivered + deliveries]);
  }
  return days;
}
