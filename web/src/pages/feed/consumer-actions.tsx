import { useState } from 'react';
import { api } from '../../api/client.js';
import type { FeedConsumer } from '../../api/types.js';
import { fromLocal } from '../../parts/local-time.js';
import { Confirm } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { useAct } from '../../ui/use-act.js';

/** Moves a consumer to a time, or to the event of a number. */
export function MoveConsumer({ consumer: { name } }: { consumer: FeedConsumer }) {
  const { act } = useAct();
  const [time, setTime] = useState('');
  const [number, setNumber] = useState('');
  const from = fromLocal(time);
  return (
    <Confirm
      trigger={<button type="button" className="button small" aria-label={`Move ${name}`} />}
      label="Move…"
      title={`Move ${name}`}
      action="Move"
      ready={from !== undefined || number !== ''}
      act={() =>
        act(
          () =>
            api.put('/v18.0/feed/consumers/{name}', {
              params: { path: { name } },
              body: number === '' ? { from } : { sequence: Number(number) },
            }),
          'The consumer is moved.',
          { quiet: true },
        )
      }
    >
      <p>
        Its reader continues there when it is started again. Stop it first: while it runs, it goes on where it
        is, and commits that.
      </p>
      <TextField
        label="Events accepted at this time or later"
        type="datetime-local"
        step={1}
        value={time}
        set={(text) => {
          setTime(text);
          setNumber('');
        }}
      />
      <TextField
        label="Or from the event with this number"
        type="number"
        min={1}
        value={number}
        set={(text) => {
          setNumber(text);
          setTime('');
        }}
      />
    </Confirm>
  );
}

/** Deletes a consumer. */
export function DeleteConsumer({ consumer: { name } }: { consumer: FeedConsumer }) {
  const { act } = useAct();
  return (
    <Confirm
      trigger={<button type="button" className="button small danger" aria-label={`Delete ${name}`} />}
      label="Delete…"
      title={`Delete ${name}?`}
      action="Delete"
      danger
      act={() =>
        act(
          () => api.delete('/v18.0/feed/consumers/{name}', { params: { path: { name } } }),
          'The consumer is deleted.',
          { quiet: true },
        )
      }
    >
      <p>
        Its position is lost. A system that still reads under this name begins again with the first event that
        is kept.
      </p>
    </Confirm>
  );
}
