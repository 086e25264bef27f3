import { api } from '../../../api/client.js';
import type { Endpoint } from '../../../api/types.js';
import { useAct } from '../../../ui/use-act.js';
import { OPTION_NAMES, optionsOf } from './delivery-options.js';
import { EndpointForm } from './endpoint-form.js';
import { mergePatch } from './merge-patch.js';

/** Changes what an endpoint is: only what is different is sent. */
export function EndpointSettings({ endpoint }: { endpoint: Endpoint }) {
  const { act } = useAct();
  const { id, target_url, event_kinds, description, filter, rate_limit } = endpoint;
  const { headers, metadata, retry_schedule, ordering, order_skip, order_skip_after } = endpoint;
  const before = {
    target_url,
    event_kinds,
    description,
    filter,
    rate_limit,
    headers,
    metadata,
    retry_schedule,
    ordering,
    order_skip,
    order_skip_after,
    ...optionsOf(endpoint),
  };
  const gone = {
    ...{ filter: undefined, rate_limit: undefined, retry_schedule: undefined },
    ...{ ordering: undefined, order_skip: undefined, order_skip_after: undefined },
    ...Object.fromEntries(OPTION_NAMES.map((name) => [name, undefined])),
  };
  return (
    <EndpointForm
      key={endpoint.version}
      endpoint={endpoint}
      action="Save"
      send={(input) =>
        act(
          () =>
            api.patch('/v18.0/endpoints/{id}', {
              params: { path: { id } },
              body: mergePatch(before, { ...gone, ...input }) as never,
            }),
          'Saved.',
          { quiet: true },
        )
      }
    />
  );
}
