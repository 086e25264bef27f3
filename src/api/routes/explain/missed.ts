import pLimit from 'p-limit';
import { resourceName } from '../../../domain/change/change.js';
import { VERDICT_CODES } from '../../../domain/explain/verdict.js';
import type { ApiDependencies } from '../../http/context.js';
import { found } from '../../http/found.js';
import { ledgerPage } from '../../http/ledger-paging.js';
import type { Operation } from '../../http/operation.js';
import { listOperation } from '../../http/paging.js';
import { listParameter } from '../../http/parameters.js';
import { kindParameter, timeParameter } from '../deliveries/filters.js';
import { explain, verdictSchema } from './explain.js';

/**
 * Events that are looked at for one page, and pages of events that are read for it: after them it ends, even with few
 * verdicts.
 */
const MOST = { examined: 200, reads: 8 };

interface Missed {
  accountId: string;
  endpointId: string;
  filter: { event_kind?: string | undefined; created_after: Date; created_before?: Date | undefined };
  codes: readonly string[] | undefined;
}

/** Events of a period that an endpoint did not get, and why. */
export function missedOperations(dependencies: ApiDependencies): Operation[] {
  return [
    listOperation('/endpoints/:id/missed', 'listMissed', {
      summary:
        'List the events of a period that an endpoint did not get, or has not got yet, each with the reason; also after it was deleted',
      scope: 'deliveries:read',
      parameters: {
        created_after: timeParameter.unwrap().describe('Events that were accepted after this time'),
        created_before: timeParameter,
        event_kind: kindParameter.describe('Only events of this kind'),
        code: listParameter(VERDICT_CODES, 'Only these verdicts, separated by commas'),
      },
      page: [
        'A page of verdicts. A page can have fewer than its limit, or none: only a page without next is the last',
        verdictSchema,
      ],
      async read({ account_id, params: { id }, query: { limit, after, code, ...filter } }) {
        await requireKnown(dependencies, account_id, id);
        const missed = { accountId: account_id, endpointId: id, filter, codes: code };
        return ledgerPage(dependencies.database, `missed:${id}`, account_id, after, (from) =>
          page(dependencies, missed, limit, from),
        );
      },
    }),
  ];
}

/** @throws Problem 404 if the account has never had the endpoint, as far as that is kept */
async function requireKnown({ database }: ApiDependencies, accountId: string, id: string): Promise<void> {
  const change = async () =>
    (await database.changes.list(accountId, { resource: resourceName('endpoint', id) }, 1)).at(0);
  await found('endpoint', id, async () => (await database.endpoints.get(accountId, id)) ?? change());
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
    if (data.length >= limit || examined >= MOST.examined || read + 1 >= MOST.reads)
      return { data, after: from };
  }
}

async function verdictsOf(
  dependencies: ApiDependencies,
  { accountId, endpointId, codes }: Missed,
  ids: readonly string[],
): Promise<object[]> {
  const delivered = await dependencies.deliveries.delivered(accountId, endpointId, ids);
  // Each costs some calls of Temporal.
  const limit = pLimit(16);
  const verdicts = await Promise.all(
    ids
      .filter((id) => !delivered.has(id))
      .map((id) => limit(() => explain(dependencies, accountId, endpointId, id))),
  );
  // Events that have been delivered since are no longer missed.
  return verdicts.filter(({ code }) => code !== 'delivered' && (codes?.includes(code) ?? true));
}
