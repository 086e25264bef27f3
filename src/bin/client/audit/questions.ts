import type { ItemOf, QueryOf, Schemas } from '../../../../clients/typescript/src/index.js';
import { rangeText } from '../../../domain/sequence/ranges.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { filterOf } from '../deliveries.js';
import { showList } from '../listing.js';
import { note, plain, print, printJson, style, table, time } from '../terminal.js';
import { limitOf, periodOf, textOf, timeOf } from '../values.js';

const PAGE = 100;

/** Lists attempts, by where they went, how long they took and how they ended. */
export async function attempts(values: Values): Promise<void> {
  const hookline = await client();
  const asked = {
    any_attempt_address: textOf(values, 'within'),
    any_attempt_not_address: textOf(values, 'outside'),
    any_attempt_longer_than: textOf(values, 'longer-than'),
    any_attempt_error_code: textOf(values, 'error-code'),
    any_attempt_status_code: textOf(values, 'status-code'),
  };
  if (Object.values(asked).every((value) => value === undefined))
    throw new CommandError(
      'Say which: --within 10.0.0.0/8, --outside 10.0.0.0/8, --longer-than 5s, --error-code timeout, --status-code 503.',
    );
  const limit = limitOf(values);
  // The server says what is wrong with a value that it does not know.
  const query = {
    ...filterOf(values),
    ...asked,
    ...periodOf(values),
    limit: PAGE,
  } as QueryOf<'/v18.0/deliveries'>;
  let found = 0;
  const listing = {
    none: 'No such attempts.',
    header: ['AT', 'TOOK', 'RESULT', 'ADDRESS', 'ATTEMPT', 'DELIVERY', 'URL'],
    cells: (attempt: Matching) => {
      found += 1;
      const { number, at, duration_ms, address, status_code, error_code } = attempt;
      const which = attempt.lost_tries ? `${number}, may have arrived before` : String(number);
      return [
        ...[time(at), `${duration_ms} ms`, String(status_code ?? error_code), address ?? '-', which],
        ...[attempt.delivery_id, attempt.url ?? ''],
      ];
    },
  };
  await showList(matchingOf(hookline.list('/v18.0/deliveries', { query })), values, listing, limit);
  if (found >= limit && values['json'] !== true) note(`The first ${limit}. More: --limit`);
}

type Listed = Schemas['ListedDelivery'];
type Matching = { delivery_id: string } & Pick<Listed, 'event_id' | 'endpoint_id'> &
  Schemas['MatchingAttempt'];

async function* matchingOf(deliveries: AsyncIterable<Listed>): AsyncIterable<Matching> {
  for await (const { id, event_id, endpoint_id, matching_attempts = [] } of deliveries)
    for (const attempt of matching_attempts) yield { delivery_id: id, event_id, endpoint_id, ...attempt };
}

/** Lists what an endpoint did not get of a period, and why. */
export async function missed(values: Values, [id]: string[]): Promise<void> {
  if (!id) throw new CommandError('Name the endpoint: hookline missed ep_… --since 2d');
  const { created_after, created_before } = periodOf(values);
  if (created_after === undefined) throw new CommandError('Say since when: hookline missed ep_… --since 2d');
  const hookline = await client();
  const query = {
    created_after,
    created_before,
    event_kind: textOf(values, 'kind'),
    code: textOf(values, 'code')?.split(','),
    limit: PAGE,
  } as QueryOf<'/v18.0/endpoints/{id}/missed'>;
  const limit = values['limit'] === undefined ? Number.POSITIVE_INFINITY : limitOf(values);
  const counts = new Map<string, number>();
  const listing = {
    none: 'Nothing: it got every event.',
    header: ['ACCEPTED', 'KIND', 'EVENT', 'WHY', 'BECAUSE'],
    cells: ({ code, summary, event }: ItemOf<'/v18.0/endpoints/{id}/missed'>) => {
      counts.set(code, (counts.get(code) ?? 0) + 1);
      return [event ? time(event.created_at) : '', event?.kind ?? '', event?.id ?? '', code, summary];
    },
  };
  const rows = hookline.list('/v18.0/endpoints/{id}/missed', { path: { id }, query });
  await showList(rows, values, listing, limit);
  if (values['json'] === true) return;
  for (const [code, count] of [...counts].sort(([, a], [, b]) => b - a)) note(`${count}  ${plain(code)}`);
}

/** Lists who changed what. */
export async function changes(values: Values): Promise<void> {
  const hookline = await client();
  const endpoint = textOf(values, 'endpoint');
  const limit = limitOf(values);
  const query = {
    resource: endpoint === undefined ? textOf(values, 'resource') : `endpoint:${endpoint}`,
    actor: textOf(values, 'actor'),
    action: textOf(values, 'action'),
    ...periodOf(values),
    limit: Math.min(limit, PAGE),
  } as QueryOf<'/v18.0/changes'>;
  const listing = {
    none: 'No changes.',
    header: ['AT', 'WHAT', 'RESOURCE', 'BY', 'FROM', 'BECAUSE OF'],
    cells: rowOf,
  };
  await showList(hookline.list('/v18.0/changes', { query }), values, listing, limit);
}

function rowOf(change: Schemas['Change']): string[] {
  const { at, action, outcome, resource, actor, address, caused_by, reason } = change;
  const because = caused_by ? `attempt ${caused_by.attempt} of ${caused_by.delivery_id}` : (reason ?? '');
  const what = outcome === 'done' ? action : `${action} (${outcome})`;
  return [time(at), what, resource, actor.person ?? actor.id, address ?? '-', because];
}

const INTEGRITY_STYLE = { unaltered: 'green', altered: 'red', not_proven: 'yellow' } as const;

/** Says whether a record has been altered. */
export async function integrity({ json }: Values, [id = '']: string[]): Promise<void> {
  const params = { path: { id } };
  const hookline = await client();
  const read = {
    dlv: () => hookline.get('/v18.0/deliveries/{id}/integrity', { params }),
    evt: () => hookline.get('/v18.0/events/{id}/integrity', { params }),
    chg: () => hookline.get('/v18.0/changes/{id}/integrity', { params }),
  }[id.split('_')[0] ?? ''];
  if (!read) throw new CommandError('Name what to check: hookline integrity dlv_…, evt_… or chg_…');
  const found = await read();
  if (found.verdict === 'altered') process.exitCode = 1;
  if (json === true) return printJson(found);
  print(`${style(INTEGRITY_STYLE[found.verdict], plain(found.verdict))}  ${plain(found.id)}\n`);
  const rows = found.checks.map(({ check, result, detail, delivery_id }) => [
    ...[check, result, delivery_id ? `${delivery_id}: ${detail}` : detail],
  ]);
  print(table(['CHECK', 'RESULT', 'DETAIL'], rows));
}

/** Asks the server whether events of a period are missing, and prints what it answers. @returns whether none is */
export async function askComplete(values: Values): Promise<boolean> {
  const hookline = await client();
  const query = { from: timeOf(values, 'from'), to: timeOf(values, 'to') };
  const found = await hookline.get('/v18.0/sequence', { params: { query } });
  if (found.first === undefined) print('There are no events with a number.');
  else
    print(
      `Numbers ${found.first} to ${found.last}: ${found.event_count} events, ${found.void_count} void, ${found.open_count} open, ${found.lost_count} lost, ${found.missing_count} missing.`,
    );
  for (const [name, ranges] of [
    ['missing', found.missing],
    ['open', found.open],
    ['void, but an event has it:', found.contradicted],
    ['two events have it:', found.twice],
  ] as const)
    for (const range of ranges) print(`${name}  ${rangeText(range)}`);
  for (const { why, ...range } of found.lost) print(`lost  ${rangeText(range)}: ${plain(why)}`);
  return found.missing_count + found.lost_count + found.contradicted_count + found.twice_count === 0;
}
