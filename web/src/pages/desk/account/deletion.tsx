import { useState } from 'react';
import { AT_HOME, api } from '../../../api/client.js';
import type { Account } from '../../../api/types.js';
import { Card } from '../../../shell/page.js';
import { Confirm } from '../../../ui/dialog.js';
import { TextField } from '../../../ui/field.js';
import { Time } from '../../../ui/time.js';
import { useAct } from '../../../ui/use-act.js';

/** Deletes an account, once somebody has typed which one. @param canErase whether its payloads may be erased with it */
export function DeleteAccount({ account: { id, name }, canErase }: { account: Account; canErase: boolean }) {
  const { act } = useAct();
  const [typed, setTyped] = useState('');
  const [erases, setErases] = useState(false);
  const query = erases ? { payloads: 'erase' as const } : {};
  return (
    <Confirm
      trigger={<button type="button" className="button danger" />}
      label="Delete…"
      title={`Delete ${name}?`}
      action="Delete the account"
      danger
      ready={[name.trim(), id].includes(typed.trim())}
      act={async () => {
        await act(
          () => api.delete('/v18.0/accounts/{id}', { headers: AT_HOME, params: { path: { id }, query } }),
          'Its deletion has begun.',
          { quiet: true },
        );
        setTyped('');
      }}
    >
      <p>
        It accepts nothing from then on. Its keys, links and logins end, its endpoints are removed, and its
        open deliveries are cancelled. What was delivered stays on record. This cannot be undone.
      </p>
      <TextField
        label="Type the account's name or id"
        hint={
          <>
            <code className="wrap">{name}</code> or <code className="wrap">{id}</code>
          </>
        }
        autoComplete="off"
        spellCheck={false}
        value={typed}
        set={setTyped}
      />
      {canErase && (
        <div className="field">
          <label className="choice">
            <input
              type="checkbox"
              checked={erases}
              onChange={({ target: { checked } }) => setErases(checked)}
            />
            Erase its payloads
          </label>
          <div className="hint">
            The keys that they are encrypted with are deleted. What was sent can then be read nowhere, not
            even in backups.
          </div>
        </div>
      )}
    </Confirm>
  );
}

const STAGES = {
  access: 'Keys, links and logins are ended.',
  endpoints: 'Endpoints are removed.',
  deliveries: 'Open deliveries are cancelled.',
  payloads: 'Payloads are erased.',
  done: 'All is done.',
} as const;

/** How far the deletion of an account is. */
export function Deletion({ account }: { account: Account }) {
  const { deletion, deletion_requested_at, deleted_at } = account;
  const erased = deletion?.keys_erased !== undefined;
  const stages = Object.keys(STAGES).filter((stage) => stage !== 'payloads' || erased);
  const stage = deletion?.stage ?? (deleted_at === undefined ? 'access' : 'done');
  return (
    <Card title={deleted_at === undefined ? 'It is being deleted' : 'It was deleted'}>
      <div className="stack">
        <p>
          {deleted_at === undefined ? (
            <>
              {STAGES[stage]}{' '}
              {deletion_requested_at && (
                <>
                  Begun <Time at={deletion_requested_at} show="relative" />.
                </>
              )}{' '}
              It goes on by itself, whatever happens to this page.
            </>
          ) : (
            <>
              Deleted <Time at={deleted_at} />.
            </>
          )}{' '}
          What it has on record can still be read{erased && ', but for payloads'}.
        </p>
        <progress
          className="meter full"
          max={stages.length - 1}
          value={stages.indexOf(stage)}
          aria-label="Progress of the deletion"
        />
        {deletion && (
          <dl className="figures">
            <div>
              <dt className="muted small">Keys, links and logins ended</dt>
              <dd className="big number">{deletion.credentials_ended}</dd>
            </div>
            <div>
              <dt className="muted small">Endpoints deleted</dt>
              <dd className="big number">{deletion.endpoints_deleted}</dd>
            </div>
            <div>
              <dt className="muted small">Open deliveries ended, about</dt>
              <dd className="big number">{deletion.deliveries_ended}</dd>
            </div>
          </dl>
        )}
      </div>
    </Card>
  );
}
