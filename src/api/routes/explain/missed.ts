import pLimit from 'p-limit';
import { z } from 'zod';
import { isId } from '../../../domain/basics/ids.js';
import { resourceName } from '../../../domain/change/change.js';
import { VERDICT_CODES } from '../../../domain/explain/verdict.js';
import { notFound } from '../../../domain/http/problem.js';
import type { ApiDependencies } from '../../http/context.js';
import { renderLedgerPage } from '../../http/ledger-paging.js';
import { listParameter } from '../../http/list-parameter.js';
import { type Operation, operation } from '../../http/operation.js';
import { pagingParameters } from '../../http/paging.js';
import { pageOf } from '../../http/schemas.js';
import { kindParameter, timeParameter } from '../deliveries/filters.js';
import { explain } from './explain.js';
import { verdictSchema } from './explain-view.js';

/** Events that are looked at for one page: after them it ends, even with few verdicts. */
const MAX_EXAMINED = 200;
/** Pages of events that are read for one page. */
const MAX_READS = 8;
/** Verdicts that are found at once: each costs some calls of Temporal. */
const EXPLAINED_AT_ONCE = 16;

interface Missed {
  accountId: string;
  endpointId: string;
  filter: { event_kind?: string | undefined; created_after: Date; created_before?: Date | undefined };
  codes: readonly string[] | undefined;
}

/** What an endpoint did not get of a period, and why. */
export function missedOperations(dependencies: ApiDependencies): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/endpoints/:id/missed',
      id: 'listMissed',
      summary:
        'List the events of a period that an endpoint did not get, or has not got yet, each with the reason; also after it was deleted',
      scope: 'deliveries:read',
      query: z.strictObject({
        ...pagingParameters,
        created_after: timeParameter.unwrap().describe('Events that were accepted after this time'),
        created_before: timeParameter,
        event_kind: kindParameter.describe('Only events of this kind'),
        code: listParameter(VERDICT_CODES, 'Only these verdicts, separated by commas'),
      }),
      responses: {
        200: {
          description:
            'A page of verdicts. A page can have fewer than its limit, or none: only a page without next is the last',
          schema: pageOf(verdictSchema),
        },
      },
      problems: [],
      async handle(ctx, { params: { id = '' }, query: { limit, after, code, ...filter } }) {
        const { account_id: accountId } = ctx.state.caller;
        await requireKnown(dependencies, accountId, id);
        const missed = { accountId, endpointId: id, filter, codes: code };
        ctx.body = await renderLedgerPage(ctx, dependencies.database, `missed:${id}`, after, (from) =>
          page(dependencies, missed, limit, from),
        );
      },
    }),
  ];
}

/** @throws Problem 404 if the account has never had the endpoint, as far as that is kept */
async function requireKnown({ database }: ApiDependencies, accountId: string, id: string): Promise<void> {
  if (!isId('endpoint', id)) throw notFound('endpoint', id);
  const resource = resourceName('endpoint', id);
  const isKnown =
    (await database.endpoints.get(accountId, id)) ??
    (await database.changes.list(accountId, { resource }, 1)).at(0);
  if (!isKnown) throw notFound('endpoint', id);
}

async function page(
  dependencies: ApiDependencies,
  missed: Missed,
  limit: number,
  after: string | undefined,
): Promise<{ data: object[]; after?: string }> {
  const { accountId, filter } = missed;
  const data: object[] = [];
  let from = after;
  for (let read = 0, examined = 0; ; read += 1) {
    const events = await dependencies.events.list(accountId, filter, limit - data.length, from);
    examined += events.data.length;
    const ids = events.data.map(({ id }) => id);
    data.push(...(await verdictsOf(dependencies, missed, ids)));
    from = events.after;
    if (from === undefined) return { data };
    if (data.length >= limit || examined >= MAX_EXAMINED || read + 1 >= MAX_READS)
      return { data, after: from };
  }
}

async function verdictsOf(
  dependencies: ApiDependencies,
  { accountId, endpointId, codes }: Missed,
  ids: readonly string[],
): Promise<object[]> {
  const delivered = await dependencies.deliveries.delivered(accountId, endpointId, ids);
  const limit = pLimit(EXPLAINED_AT_ONCE);
  const verdicts = await Promise.all(
    ids
      .filter((id) => !delivered.has(id))
      .map((id) => limit(() => explain(dependencies, accountId, endpointId, id))),
  );
  // What was delivered since is no longer missed.
  return verdicts.filter(({ code }) => code !== 'delivered' && (codes?.includes(code) ?? true));
}
