import type { QueryOf, Schemas } from '../../../../clients/typescript/src/index.js';
import { CommandError, type Values } from '../../command.js';
import { client } from '../connection.js';
import { filterOf } from '../deliveries.js';
import { limitOf, showList } from '../listing.js';
import { timeOf } from '../replay.js';
import { note, plain, print, printJson, style, table, time } from '../terminal.js';

const PAGE = 100;

const text = (values: Values, name: string) =>
  values[name] === undefined ? undefined : String(values[name]);
const named = <T extends object>(query: T): T =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as T;

function periodOf(values: Values) {
  const [since, until] = [text(values, 'since'), text(values, 'until')];
  return {
    created_after: since === undefined ? undefined : timeOf('since', since),
    created_before: until === undefined ? undefined : timeOf('until', until),
  };
}

/** Lists attempts, by where they went, how long they took and how they ended. */
export async function attempts(values: Values): Promise<void> {
  const hookline = await client();
  const code = Number(text(values, 'status-code') ?? Number.NaN);
  const asked = named({
    any_attempt_address: text(values, 'within'),
    any_attempt_not_address: text(values, 'outside'),
    any_attempt_longer_than: text(values, 'longer-than'),
    any_attempt_error_code: text(values, 'error-code'),
    any_attempt_status_code: Number.isNaN(code) ? text(values, 'status-code') : code,
  });
  if (Object.keys(asked).length === 0)
    throw new CommandError(
      'Say which: --within 10.0.0.0/8, --outside 10.0.0.0/8, --longer-than 5s, --error-code timeout, --status-code 503.',
    );
  const limit = limitOf(values);
  // The server says what is wrong with a value that it does not know.
  const query = { ...filterOf(values), ...asked, ...named(periodOf(values)), limit: PAGE } as NonNullable<
    QueryOf<'/v18.0/deliveries'>
  >;
  const rows: string[][] = [];
  let found = 0;
  for await (const { id, event_id, endpoint_id, matching_attempts = [] } of hookline.list(
    '/v18.0/deliveries',
    { query },
  )) {
    for (const attempt of matching_attempts.slice(0, limit - found)) {
      found += 1;
      if (values['json'] === true) printJson({ delivery_id: id, event_id, endpoint_id, ...attempt });
      const { number, at, duration_ms, address, status_code, error_code, url, lost_tries } = attempt;
      const which = lost_tries ? `${number}, may have arrived before` : String(number);
      rows.push([
        ...[time(at), `${duration_ms} ms`, String(status_code ?? error_code), address ?? '-', which],
        ...[id, url ?? ''],
      ]);
    }
    if (found >= limit) break;
  }
  if (values['json'] === true) return;
  if (rows.length === 0) print('No such attempts.');
  else print(table(['AT', 'TOOK', 'RESULT', 'ADDRESS', 'ATTEMPT', 'DELIVERY', 'URL'], rows));
  if (found >= limit) note(`The first ${limit}. More: --limit`);
}

/** Lists what an endpoint did not get of a period, and why. */
export async function missed(values: Values, [id]: string[]): Promise<void> {
  if (!id) throw new CommandError('Name the endpoint: hookline missed ep_… --since 2d');
  const { created_after, created_before } = periodOf(values);
  if (created_after === undefined) throw new CommandError('Say since when: hookline missed ep_… --since 2d');
  const hookline = await client();
  const query = named({
    created_after,
    created_before,
    event_kind: text(values, 'kind'),
    code: text(values, 'code')?.split(','),
    limit: PAGE,
  }) as NonNullable<QueryOf<'/v18.0/endpoints/{id}/missed'>>;
  const limit = values['limit'] === undefined ? Number.POSITIVE_INFINITY : limitOf(values);
  const counts = new Map<string, number>();
  const rows: string[][] = [];
  let found = 0;
  for await (const verdict of hookline.list('/v18.0/endpoints/{id}/missed', {
    path: { id },
    query,
  })) {
    const { code, summary, event } = verdict;
    found += 1;
    counts.set(code, (counts.get(code) ?? 0) + 1);
    if (values['json'] === true) printJson(verdict);
    rows.push([event ? time(event.created_at) : '', event?.kind ?? '', event?.id ?? '', code, summary]);
    if (found >= limit) break;
  }
  if (values['json'] === true) return;
  if (rows.length === 0) print('Nothing: it got every event.');
  else print(table(['ACCEPTED', 'KIND', 'EVENT', 'WHY', 'BECAUSE'], rows));
  for (const [code, count] of [...counts].sort(([, a], [, b]) => b - a)) note(`${count}  ${code}`);
}

/** Lists who changed what. */
export async function changes(values: Values): Promise<void> {
  const hookline = await client();
  const endpoint = text(values, 'endpoint');
  const limit = limitOf(values);
  const query = named({
    resource: endpoint === undefined ? text(values, 'resource') : `endpoint:${endpoint}`,
    actor: text(values, 'actor'),
    action: text(values, 'action'),
    ...periodOf(values),
    limit: Math.min(limit, PAGE),
  }) as NonNullable<QueryOf<'/v18.0/changes'>>;
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
  if (json === true) {
    printJson(found);
    return;
  }
  print(`${style(INTEGRITY_STYLE[found.verdict], found.verdict)}  ${found.id}\n`);
  const rows = found.checks.map(({ check, result, detail, delivery_id }) => [
    ...[check, result, delivery_id ? `${delivery_id}: ${detail}` : detail],
  ]);
  print(
    table(
      ['CHECK', 'RESULT', 'DETAIL'],
      rows.map((row) => row.map(plain)),
    ),
  );
}
