import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { actingFor, api } from '../api/client.js';
import { type Role, readSession, type Session, subscribe } from '../api/session.js';
import { useRole } from '../ui/link.js';
import { LIVE_MS } from '../ui/list.js';

/** The session of a role, if there is one. */
export function useSession(role: Role): Session | undefined {
  return useSyncExternalStore(subscribe, () => readSession(role));
}

/** Who the token of this role stands for, and what it allows. */
export function useHolder() {
  const role = useRole();
  const session = useSession(role);
  return useQuery({
    queryKey: ['session', session?.token, session?.account],
    queryFn: () => api.get('/v18.0/session'),
    enabled: session !== undefined,
    staleTime: 60_000,
  });
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
    queryKey: ['session', session?.token, account],
    queryFn: () => api.get('/v18.0/session', { headers: actingFor(account) }),
    enabled: session !== undefined,
    staleTime: 60_000,
    refetchInterval: live ? LIVE_MS : false,
  });
}

/** The same for oneself: what one may do with accounts, and where Temporal UI is. */
export const useHome = () => useHolderFor('');

/** Whether the token is known to allow something: buttons for what it does not allow are not shown. */
export function useMay(scope: string): boolean {
  const { data } = useHolder();
  return (data?.scopes as readonly string[] | undefined)?.includes(scope) ?? false;
}
