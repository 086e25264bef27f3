import { useState } from 'react';
import { api } from '../../api/client.js';
import { type DeliverySummary, isOpen } from '../../api/types.js';
import { Confirm } from '../../ui/dialog.js';
import { say } from '../../ui/toast.js';
import { useAct } from '../../ui/use-act.js';

/** Requests at once: a page of deliveries must not use up the limit of the token in a second. */
const AT_ONCE = 4;

type Act = 'retry' | 'resend' | 'cancel';
const DONE: Record<Act, string> = { retry: 'tried again', resend: 'sent again', cancel: 'cancelled' };

/** Actions on the deliveries that are chosen in a list; replays act on more than a list shows. */
export function BulkActions({ chosen, clear }: { chosen: readonly DeliverySummary[]; clear: () => void }) {
  const { act } = useAct();
  const [busy, setBusy] = useState(false);
  const open = chosen.filter(({ status }) => isOpen(status));
  const closed = chosen.filter(({ status }) => !isOpen(status));
  const doTo = async (action: Act, rows: readonly DeliverySummary[]) => {
    setBusy(true);
    const refused = await act(() => actOnEach(action, rows));
    setBusy(false);
    if (refused === undefined) return;
    clear();
    const count = rows.length - refused.length;
    if (refused.length === 0) say(`${count} ${DONE[action]}.`);
    else say(`${count} ${DONE[action]}, ${refused.length} refused: ${refused[0]}`, { bad: true });
  };
  return (
    <section className="bulk" aria-label="The chosen deliveries">
      <strong>{chosen.length} chosen</strong>
      {open.length > 0 && (
        <Confirm
          trigger={<button type="button" className="button small" disabled={busy} />}
          label={`Retry ${open.length} now…`}
          title={open.length === 1 ? 'Retry this delivery now?' : `Retry ${open.length} deliveries now?`}
          action="Retry now"
          act={() => doTo('retry', open)}
        >
          <p>An attempt of each is made at once, whatever it waits for.</p>
        </Confirm>
      )}
      {closed.length > 0 && (
        <Confirm
          trigger={<button type="button" className="button small" disabled={busy} />}
          label={`Send ${closed.length} again…`}
          title={
            closed.length === 1 ? 'Send this delivery again?' : `Send ${closed.length} deliveries again?`
          }
          action="Send again"
          act={() => doTo('resend', closed)}
        >
          <p>The endpoint gets each once more, under the same webhook-id.</p>
        </Confirm>
      )}
      {open.length > 0 && (
        <Confirm
          trigger={<button type="button" className="button small danger" disabled={busy} />}
          label={`Cancel ${open.length}…`}
          title={open.length === 1 ? 'Give this delivery up?' : `Give ${open.length} deliveries up?`}
          action="Cancel them"
          danger
          act={() => doTo('cancel', open)}
        >
          <p>No further attempt is made. You can send them again later.</p>
        </Confirm>
      )}
      <button type="button" className="button small quiet" onClick={clear}>
        Clear
      </button>
    </section>
  );
}

/** Does the same to each. @returns why those were refused that were */
async function actOnEach(action: Act, rows: readonly DeliverySummary[]): Promise<string[]> {
  const waiting = [...rows];
  const refused: string[] = [];
  const work = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift())
      await api
        .post(`/v18.0/deliveries/{id}/${action}`, { params: { path: { id: row.id } }, body: {} })
        .catch((error: Error) => refused.push(error.message));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return refused;
}
