import { CommandError, type Values } from '../command.js';
import { client } from './connection.js';
import { showFacts } from './listing.js';
import { print, printJson } from './terminal.js';
import { textOf, timeOf } from './values.js';

/** Counts what an endpoint would have got of a period, part by part. */
export async function whatIf(values: Values, [endpoint]: string[]): Promise<void> {
  const created_after = timeOf(values, 'from');
  if (created_after === undefined) throw new CommandError('Say from when: hookline what-if --from 7d');
  const tried = {
    ...given('endpoint_id', endpoint),
    ...given('created_before', timeOf(values, 'to')),
    ...given('filter', filterOf(textOf(values, 'filter'))),
    ...given('event_kinds', textOf(values, 'kinds')?.split(',')),
    ...given('retry_schedule', textOf(values, 'retry-schedule')?.split(',')),
  };
  const hookline = await client();
  const sum = { examined: 0, deliveries: 0, gained: 0, lost: 0, unreadable: 0, attempts_at_most: 0 };
  let after: string | undefined;
  let lasts: string | undefined;
  do {
    const part = await hookline.post('/v18.0/what_if', {
      body: { created_after, ...tried, ...given('after', after) },
    });
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += part[name] ?? 0;
    lasts = part.last_attempt_after;
    after = part.after;
  } while (after !== undefined);
  if (values['json'] === true) return printJson({ ...sum, last_attempt_after: lasts });
  print(`It would have been ${sum.deliveries} deliveries of ${sum.examined} events. Nothing was sent.`);
  showFacts({
    ...(endpoint && { 'More than now': String(sum.gained), 'Fewer than now': String(sum.lost) }),
    Unreadable: sum.unreadable > 0 ? `${sum.unreadable}: their payloads are gone` : undefined,
    Attempts: `at most ${sum.attempts_at_most}, the last one ${lasts} after the first`,
  } as Record<string, string | undefined>);
}

function given<Name extends string, T>(name: Name, value: T | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { [N in Name]?: T };
}

function filterOf(text: string | undefined) {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError('--filter must be JSON, such as {"path": "/total", "at_least": 100}.');
  }
}
