import { hashKey, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { actingFor, api } from '../api/client.js';
import { accountIn } from '../api/scope.js';
import { type Role, readSession, type Session, subscribe } from '../api/session.js';
import type { Holder } from '../api/types.js';
import { useRole } from '../ui/link.js';
import { LIVE_MS } from '../ui/list.js';

/** Options of a query that is not about the account of the address: its result stays when another is chosen. */
export const AT_HOME_QUERY = { queryKeyHashFn: hashKey };

/** The session of a role, if there is one. */
export function useSession(role: Role): Session | undefined {
  return useSyncExternalStore(subscribe, () => readSession(role));
}

/** The account that the address names: that one's pages are shown. */
export function useAccount(): string | undefined {
  return accountIn(useSearch({ strict: false }) as Record<string, unknown>);
}

/** Holder of this role's token, for the account of the address, and its scopes. */
export function useHolder() {
  const role = useRole();
  const home = useHome().data;
  const account = useAccount();
  return useHolderFor(role === 'desk' && mayActFor(home) ? (account ?? '') : '');
}

/**
 * The same for another account than the one that one acts for: what one may do for that.
 *
 * @param account '' is one's own
 * @param live asks again every few seconds, for what is left of the limits
 */
export function useHolderFor(account: string, live = false) {
  const session = useSession(useRole());
  return useQuery({
    ...AT_HOME_QUERY,
    queryKey: ['session', session?.token, account],
    queryFn: () => api.get('/v18.0/session', { headers: actingFor(account) }),
    enabled: session !== undefined,
    staleTime: 60_000,
    refetchInterval: live ? LIVE_MS : false,
  });
}

/** The same for oneself: what one may do with accounts, and where Temporal UI is. */
export const useHome = () => useHolderFor('');

/** Whether the token may act for other accounts than its own: an operator's or a platform's. */
export function mayActFor(home: Holder | undefined): boolean {
  return home?.scopes.some((scope) => scope === 'admin' || scope === 'platform') ?? false;
}

/** Whether the whole installation is shown: to an operator, while the address names no account. */
export function useWhole(): boolean {
  const home = useHome().data;
  const account = useAccount();
  return useRole() === 'desk' && account === undefined && (home?.scopes.includes('admin') ?? false);
}

/** Whether the token is known to allow something: buttons for what it does not allow are not shown. */
export function useMay(scope: string): boolean {
  const { data } = useHolder();
  return (data?.scopes as readonly string[] | undefined)?.includes(scope) ?? false;
}

/** Whether somebody may change things at all: people at the desk whose role is to read may not. */
export function mayAct(home: Holder | undefined): boolean {
  return home !== undefined && home.person?.role !== 'read';
}
