import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { EventKind } from '../../api/types.js';
import { useEndpoints } from '../../parts/endpoints/endpoint-name.js';
import { nameOfEndpoint } from '../../parts/endpoints/names.js';
import { useMay } from '../../shell/use-session.js';
import { Confirm } from '../../ui/dialog.js';
import { Field } from '../../ui/field.js';
import { useRole } from '../../ui/link.js';
import { useAct } from '../../ui/use-act.js';

/**
 * Whether a kind has an example that can be sent: its own, as no other is; kinds that Hookline sends itself are not
 * among these.
 */
function hasExample({ schema, name, built_in }: EventKind): boolean {
  const { examples } = schema;
  return Array.isArray(examples) && (examples as unknown[]).length > 0 && (!built_in || name === 'purchase');
}

/** Sends the example of a kind to one endpoint, and shows its delivery. */
export function SendExample({ kind }: { kind: EventKind }) {
  const role = useRole();
  const navigate = useNavigate();
  const { act } = useAct();
  const mayWrite = useMay('endpoints:write');
  const endpoints = (useEndpoints().data ?? []).filter(({ status }) => status !== 'pending');
  const [chosen, setChosen] = useState<string>();
  const id = chosen ?? endpoints[0]?.id;
  if (!mayWrite || !hasExample(kind)) return null;
  const send = async () => {
    if (id === undefined) return;
    const event = await act(
      () =>
        api.post('/v18.0/endpoints/{id}/test', { params: { path: { id } }, body: { event_kind: kind.name } }),
      'The example is on its way.',
      { quiet: true },
    );
    const [delivery] = event?.deliveries ?? [];
    if (delivery) void navigate({ to: '/$role/deliveries/$id', params: { role, id: delivery.id } } as never);
  };
  return (
    <Confirm
      trigger={<button type="button" className="button primary" />}
      label="Send an example…"
      title={`Send an example of ${kind.name}`}
      action="Send"
      ready={id !== undefined}
      act={send}
    >
      {id === undefined ? (
        <p>There is no endpoint that takes events. Register one first.</p>
      ) : (
        <>
          <p>
            The example of this page is sent, signed, as an event of this kind, to one endpoint alone.
            Whatever that does with such events it does with this one.
          </p>
          <Field label="To the endpoint">
            {(props) => (
              <select
                {...props}
                className="input"
                value={id}
                onChange={({ target }) => setChosen(target.value)}
              >
                {endpoints.map((endpoint) => (
                  <option key={endpoint.id} value={endpoint.id}>
                    {nameOfEndpoint(endpoint)}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </Confirm>
  );
}
