import { useQuery } from '@tanstack/react-query';
import { Navigate, useLocation } from '@tanstack/react-router';
import { api, readAll } from '../../api/client.js';
import type { Found } from '../../api/types.js';
import { hostOf, nameOfEndpoint } from '../../parts/endpoints/names.js';
import { keyNamesOf } from '../../parts/kinds/fields.js';
import { Card, PageHead } from '../../shell/page.js';
import { numberIn, type Target, targetOf } from '../../shell/search-target.js';
import { useAccount, useWhole } from '../../shell/use-session.js';
import { capitalize } from '../../ui/badge.js';
import { To, useRole } from '../../ui/link.js';
import { Empty, Loaded } from '../../ui/states.js';
import { Table } from '../../ui/table.js';

/** Something that was found: where it leads, and whose it is to an operator. */
interface Hit {
  type: string;
  id: string;
  text: string;
  target: Target;
  account?: Found['account'] | undefined;
}

/** Number of search results that are read: each asks about a thousand accounts and keys. */
const MOST_ANSWERS = 5;

/** The page of what a search found; if that is one thing, the way to it. */
export function FoundPage() {
  const role = useRole();
  const whole = useWhole();
  const own = useAccount();
  const { hash } = useLocation();
  const query = decodeURIComponent(hash);
  const found = useQuery({
    queryKey: ['search', whole, query],
    queryFn: async () => {
      const find = whole ? findEverywhere : findInAccount;
      const hits = await find(query);
      const number = hits.length === 0 ? numberIn(query) : undefined;
      return number === undefined ? hits : find(number);
    },
    enabled: query !== '',
  });
  const [only, ...others] = found.data ?? [];
  if (only && others.length === 0) {
    const { target, account } = only;
    const owner = account?.id ?? own;
    return (
      <Navigate
        {...({
          to: `/$role/${target.page}`,
          params: { role, id: target.id },
          search: { ...target.search, ...(owner && target.page !== 'accounts/$id' && { account: owner }) },
          replace: true,
        } as object as { to: string })}
      />
    );
  }
  return (
    <>
      <PageHead title="Search" about={<>What was found for “{query}”.</>} />
      <Card bare>
        <Loaded query={found} lines={6}>
          {(rows) =>
            rows.length === 0 ? (
              <Empty title="Nothing was found">
                <p>
                  Look for an id, the number of an order, a business key as name:value
                  {whole ? ', a part of the name of an account,' : ''} or a part of a host.
                </p>
              </Empty>
            ) : (
              <Table head={['What', 'Kind', whole && 'Account']}>
                {rows.map(({ type, id, text, target, account }) => (
                  <tr key={`${type} ${id}`} className="linked">
                    <td className="wide">
                      <To
                        {...target}
                        account={type === 'account' ? undefined : account?.id}
                        className="row-link"
                      >
                        {text}
                      </To>
                      <div className="muted small">
                        <code className="wrap">{id}</code>
                      </div>
                    </td>
                    <td className="muted">{capitalize(type.replaceAll('_', ' '))}</td>
                    {whole && <td>{account?.name}</td>}
                  </tr>
                ))}
              </Table>
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

/** The operator's question, about all accounts. */
async function findEverywhere(query: string): Promise<Hit[]> {
  const hits: Hit[] = [];
  let after: string | undefined;
  for (let answer = 0; answer < MOST_ANSWERS; answer += 1) {
    const page = await api.post('/v18.0/installation/search', { body: { query, ...(after && { after }) } });
    for (const { type, id, text, account } of page.data) {
      const target: Target | undefined = type === 'account' ? { page: 'accounts/$id', id } : targetOf(id);
      if (target) hits.push({ type, id, text: text ?? id, target, account });
    }
    after = page.after;
    if (after === undefined) break;
  }
  return hits;
}

/** Endpoints of the account by name or host, and its events by each possible key. An event leads to its deliveries. */
async function findInAccount(query: string): Promise<Hit[]> {
  const [endpoints, kinds] = await Promise.all([
    readAll(api.list('/v18.0/endpoints', { query: { limit: 100 } })),
    readAll(api.list('/v18.0/event_kinds', { query: { limit: 100 } })),
  ]);
  const lower = query.toLowerCase();
  const named = endpoints
    .filter((one) => `${one.description ?? ''} ${hostOf(one.target_url)}`.toLowerCase().includes(lower))
    .map(
      (one): Hit => ({
        type: 'endpoint',
        id: one.id,
        text: nameOfEndpoint(one),
        target: { page: 'endpoints/$id', id: one.id },
      }),
    );
  const names = [...new Set(kinds.flatMap(({ schema }) => keyNamesOf(schema)))];
  const keyed = await Promise.all(
    names.map(async (name): Promise<Hit[]> => {
      const key = `${name}:${query}`;
      // An event is found as soon as it is accepted, its deliveries a moment later: their list looks for them again.
      const { data } = await api.get('/v18.0/events', { params: { query: { key, limit: 1 } } });
      const target: Target = { page: 'deliveries', search: { key } };
      return data.length === 0 ? [] : [{ type: 'deliveries', id: key, text: key, target }];
    }),
  );
  return [...named, ...keyed.flat()];
}
