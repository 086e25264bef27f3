import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api/client.js';
import type { Erasure } from '../../api/types.js';
import { Card } from '../../shell/page.js';
import { Confirm } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { useRole } from '../../ui/link.js';
import { useAct } from '../../ui/use-act.js';

/** Rules for deliveries that are still open. */
const OPEN = {
  cancel: {
    name: 'Cancel them',
    hint: 'The key is deleted at once. What has not been delivered never will be.',
  },
  finish: {
    name: 'Let them end first',
    hint: 'The key is deleted once each has been delivered or given up, which can take days.',
  },
} as const;
type OpenRule = keyof typeof OPEN;

/**
 * Erases what events say about one person. Their name is sent in a body alone: it gets into no address, and is not
 * kept.
 */
export function EraseForm() {
  const role = useRole();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const { act } = useAct();
  const [subject, setSubject] = useState('');
  const [open, setOpen] = useState<OpenRule>('cancel');
  const [reason, setReason] = useState('');
  const [asking, setAsking] = useState(false);
  const erase = async () => {
    const erasure = (await act(
      () => api.post('/v18.0/subjects/erase', { body: { subject, open, ...(reason !== '' && { reason }) } }),
      'The erasure has begun.',
      { quiet: true },
    )) as Erasure;
    // A caller who may erase need not be allowed to read certificates; this one was in the response.
    queryClient.setQueryData(['erasure', erasure.id], erasure);
    void navigate({ to: '/$role/erasures/$id', params: { role, id: erasure.id } } as never);
  };
  return (
    <Card title="Erase a person's data">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          setAsking(true);
        }}
      >
        <TextField
          label="Person"
          hint="As the events name them, such as an e-mail address. It is not kept, and stands in no address or log."
          required
          maxLength={1_024}
          autoComplete="off"
          spellCheck={false}
          value={subject}
          set={setSubject}
        />
        <fieldset className="field">
          <legend>Deliveries that are still open</legend>
          <div className="choices">
            {Object.entries(OPEN).map(([rule, { name }]) => (
              <label key={rule} className="choice">
                <input
                  type="radio"
                  name="open"
                  checked={open === rule}
                  onChange={() => setOpen(rule as OpenRule)}
                />
                {name}
              </label>
            ))}
          </div>
          <div className="hint">{OPEN[open].hint}</div>
        </fieldset>
        <TextField
          label="Reason"
          hint="Kept with the erasure, so it must not name the person. Such as the number of their request."
          maxLength={300}
          autoComplete="off"
          value={reason}
          set={setReason}
        />
        <div>
          <button type="submit" className="button danger">
            Erase…
          </button>
        </div>
      </form>
      <Confirm
        open={asking}
        setOpen={setAsking}
        title="Erase this for good?"
        action="Erase"
        danger
        act={erase}
      >
        <p>
          The payloads of all events about <strong className="wrap">{subject}</strong> become unreadable for
          everybody. This cannot be undone.
        </p>
        <p>{OPEN[open].hint}</p>
      </Confirm>
    </Card>
  );
}
