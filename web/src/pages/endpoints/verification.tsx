import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.js';
import type { Endpoint } from '../../api/types.js';
import { To } from '../../ui/link.js';
import { LIVE_MS } from '../../ui/list.js';
import { useAct } from '../../ui/use-act.js';

/** How often an endpoint is asked for while it is being verified, milliseconds. */
const SOON_MS = 1_000;

/** One endpoint, as it is now. */
export function useEndpoint(id: string) {
  return useQuery({
    queryKey: ['endpoint', id],
    queryFn: () => api.get('/v18.0/endpoints/{id}', { params: { path: { id } } }) as Promise<Endpoint>,
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? SOON_MS : LIVE_MS),
  });
}

/** Whether an endpoint has said that it wants events, and what it must answer if it has not. */
export function Verification({ id }: { id: string }) {
  const { data: endpoint } = useEndpoint(id);
  const { act, busy } = useAct();
  if (!endpoint) return null;
  if (endpoint.status !== 'pending')
    return (
      <div className="notice good" role="status">
        <div>
          <strong>It receives events from now on.</strong>{' '}
          <To page="endpoints/$id" id={id}>
            Send a test event
          </To>{' '}
          to see one arrive.
        </div>
      </div>
    );
  return (
    <div className="notice info" role="status">
      <div>
        <strong>Waiting for the endpoint to be verified.</strong>
        <p>{endpoint.status_reason}</p>
        <p>
          {endpoint.verification_method === 'challenge' &&
            'It receives a signed POST of the kind endpoint.verification. It must respond 2xx with the value of challenge, or call the confirmation_url.'}
          {endpoint.verification_method === 'cloudevents' &&
            'It receives OPTIONS with WebHook-Request-Origin. It must respond with WebHook-Allowed-Origin.'}
          {endpoint.verification_method === 'graph' &&
            'It receives GET with hub.challenge. It must respond with that value.'}
        </p>
      </div>
      <button
        type="button"
        className="button"
        disabled={busy}
        onClick={() =>
          void act(
            () => api.post('/v18.0/endpoints/{id}/verify', { params: { path: { id } } }),
            'The endpoint is asked again.',
          )
        }
      >
        Ask again now
      </button>
    </div>
  );
}
