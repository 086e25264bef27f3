import { useState } from 'react';
import { api } from '../../api/client.js';
import { type Delivery, isOpen } from '../../api/types.js';
import { Confirm } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { useAct } from '../../ui/use-act.js';

/** Actions on a delivery in its state; the service decides. */
export function DeliveryActions({ delivery: { id, status, reason } }: { delivery: Delivery }) {
  const { act, busy } = useAct();
  const params = { path: { id } };
  const button = (text: string, call: () => Promise<unknown>, done: string, primary = false) => (
    <button
      type="button"
      className={primary ? 'button primary' : 'button'}
      disabled={busy}
      onClick={() => void act(call, done)}
    >
      {text}
    </button>
  );
  if (!isOpen(status))
    return button(
      'Send again',
      () => api.post('/v18.0/deliveries/{id}/resend', { params, body: {} }),
      'It is sent again.',
      status !== 'delivered',
    );
  const paused = status === 'parked' && reason.startsWith('Paused by');
  return (
    <>
      <CancelButton id={id} />
      {paused
        ? button(
            'Resume',
            () => api.post('/v18.0/deliveries/{id}/resume', { params, body: {} }),
            'It goes on.',
            true,
          )
        : button(
            'Pause',
            () => api.post('/v18.0/deliveries/{id}/pause', { params, body: {} }),
            'It is paused.',
          )}
      {!paused &&
        button(
          'Retry now',
          () => api.post('/v18.0/deliveries/{id}/retry', { params, body: {} }),
          'An attempt is under way.',
          true,
        )}
    </>
  );
}

function CancelButton({ id }: { id: string }) {
  const { act } = useAct();
  const [reason, setReason] = useState('');
  return (
    <Confirm
      trigger={<button type="button" className="button danger" />}
      label="Cancel…"
      title="Give this delivery up?"
      action="Cancel the delivery"
      danger
      act={() =>
        act(
          () =>
            api.post('/v18.0/deliveries/{id}/cancel', {
              params: { path: { id } },
              body: { ...(reason !== '' && { reason }) },
            }),
          'The delivery is cancelled.',
          { quiet: true },
        )
      }
    >
      <p>No further attempt is made. You can send it again later.</p>
      <TextField
        label="Reason"
        hint="Recorded with who did it."
        maxLength={300}
        value={reason}
        set={setReason}
      />
    </Confirm>
  );
}
