import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { AT_HOME, api } from '../api/client.js';
import { AT_HOME_QUERY, mayActFor, useAccount, useHolder, useHome } from './use-session.js';

/** Accounts to choose from here; the page of accounts, and the search, have all. */
const MOST = 100;

/** Choice of the account whose data is shown; an operator can choose all. */
export function AccountChoice() {
  const home = useHome().data;
  const account = useAccount();
  const navigate = useNavigate();
  const holder = useHolder().data;
  const accounts = useQuery({
    ...AT_HOME_QUERY,
    queryKey: ['accounts', 'choice'],
    queryFn: () => api.get('/v18.0/accounts', { headers: AT_HOME, params: { query: { limit: MOST } } }),
    enabled: mayActFor(home),
    staleTime: 30_000,
  }).data;
  if (!accounts || !mayActFor(home)) return null;
  const known = accounts.data.map(({ id, name }) => ({ id, name }));
  const isMissing = account !== undefined && !known.some(({ id }) => id === account);
  return (
    <section aria-label="Whose pages are shown">
      <select
        className="input account-choice"
        aria-label="Account"
        value={account ?? ''}
        onChange={({ target: { value } }) =>
          void navigate({
            to: '.',
            search: (before: object) => ({ ...before, account: value || undefined }),
          } as never)
        }
      >
        <option value="">{home?.scopes.includes('admin') ? 'All accounts' : 'No account'}</option>
        {isMissing && <option value={account}>{holder?.account.name || account}</option>}
        {known.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </section>
  );
}
