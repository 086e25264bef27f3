import { Menu } from '@base-ui/react/menu';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Endpoint } from '../../api/types.js';
import { nameOfEndpoint } from '../../parts/endpoints/names.js';
import { LIMITS } from '../../shell/look/read-meta.js';
import { Confirm } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { Icon } from '../../ui/icons.js';
import { useRole } from '../../ui/link.js';
import { useAct } from '../../ui/use-act.js';
import { parkLimitText } from './park-limit.js';

/** Actions on an endpoint: test, pause or resume it; replay what it missed; delete it. */
export function EndpointActions({ endpoint }: { endpoint: Endpoint }) {
  const { id, status } = endpoint;
  const { act, busy } = useAct();
  const role = useRole();
  const navigate = useNavigate();
  const [reason, setReason] = useState('');
  const params = { path: { id } };
  const test = async () => {
    const event = await act(
      () => api.post('/v18.0/endpoints/{id}/test', { params }),
      'A test event is on its way.',
    );
    const [delivery] = event?.deliveries ?? [];
    if (delivery) void navigate({ to: '/$role/deliveries/$id', params: { role, id: delivery.id } } as never);
  };
  return (
    <>
      {status !== 'pending' && (
        <button type="button" className="button" disabled={busy} onClick={() => void test()}>
          Send a test event
        </button>
      )}
      {status === 'active' && (
        <Confirm
          trigger={<button type="button" className="button" />}
          label="Pause…"
          title={`Pause ${nameOfEndpoint(endpoint)}?`}
          action="Pause"
          act={() =>
            act(
              () =>
                reason === ''
                  ? api.post('/v18.0/endpoints/{id}/pause', { params })
                  : api.patch('/v18.0/endpoints/{id}', {
                      params,
                      body: { status: 'paused', status_reason: reason },
                    }),
              'The endpoint is paused.',
              { quiet: true },
            )
          }
        >
          <p>Its deliveries wait until it is resumed. {parkLimitText(LIMITS?.park_limit_ms)}</p>
          <TextField
            label="Reason"
            hint="Shown to everybody who asks why a delivery waits."
            maxLength={300}
            value={reason}
            set={setReason}
          />
        </Confirm>
      )}
      {(status === 'paused' || status === 'disabled') && (
        <button
          type="button"
          className="button primary"
          disabled={busy}
          onClick={() =>
            void act(
              () => api.post('/v18.0/endpoints/{id}/resume', { params }),
              'The endpoint is active. What waited is released.',
            )
          }
        >
          Resume
        </button>
      )}
      <MoreActions endpoint={endpoint} />
    </>
  );
}

function MoreActions({ endpoint }: { endpoint: Endpoint }) {
  const { id } = endpoint;
  const role = useRole();
  const navigate = useNavigate();
  const { act } = useAct();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="button" aria-label="More">
          <Icon name="more" />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="menu-layer" sideOffset={6} align="end">
            <Menu.Popup className="menu">
              <Menu.Item
                onClick={() =>
                  void navigate({
                    to: '/$role/replays/new',
                    params: { role },
                    search: { endpoint_id: id, choice: 'missed' },
                  } as never)
                }
              >
                <Icon name="replay" /> Replay what it missed
              </Menu.Item>
              <Menu.Item className="danger" onClick={() => setDeleting(true)}>
                <Icon name="close" /> Delete…
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <Confirm
        open={deleting}
        setOpen={setDeleting}
        title={`Delete ${nameOfEndpoint(endpoint)}?`}
        action="Delete"
        danger
        act={async () => {
          await act(
            () => api.delete('/v18.0/endpoints/{id}', { params: { path: { id } } }),
            'The endpoint is deleted.',
            {
              quiet: true,
            },
          );
          void navigate({ to: '/$role/endpoints', params: { role } } as never);
        }}
      >
        <p>
          Its open deliveries are cancelled. What has been delivered stays on record. This cannot be undone.
        </p>
      </Confirm>
    </>
  );
}
