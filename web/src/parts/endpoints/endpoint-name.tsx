import { useQuery } from '@tanstack/react-query';
import { api, readAll } from '../../api/client.js';
import { ListenerBadge } from '../../ui/badge.js';
import { To } from '../../ui/link.js';
import { LIVE_MS } from '../../ui/list.js';
import { hostOf, nameOfEndpoint } from './names.js';

/** Every endpoint of the account. */
export function useEndpoints(live = false) {
  return useQuery({
    queryKey: ['endpoints'],
    queryFn: () => readAll(api.list('/v18.0/endpoints', { query: { limit: 100 } })),
    staleTime: 10_000,
    refetchInterval: live ? LIVE_MS : false,
  });
}

/** A link to an endpoint, by the name that people know; its id if it was deleted. */
export function EndpointName({ id, host }: { id: string; host?: boolean }) {
  const endpoint = useEndpoints().data?.find((each) => each.id === id);
  if (!endpoint) return <code title={id}>{`${id.slice(0, 9)}…${id.slice(-4)}`}</code>;
  return (
    <>
      <To page="endpoints/$id" id={id} className="wrap">
        {nameOfEndpoint(endpoint)}
        {host && endpoint.description && <span className="muted"> · {hostOf(endpoint.target_url)}</span>}
      </To>
      {endpoint.listener && (
        <>
          {' '}
          <ListenerBadge endpoint={endpoint} />
        </>
      )}
    </>
  );
}
