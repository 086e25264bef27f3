import { useState } from 'react';
import { AT_HOME, api } from '../../../api/client.js';
import type { Account } from '../../../api/types.js';
import { Card } from '../../../shell/page.js';
import { Confirm } from '../../../ui/dialog.js';
import { TextField } from '../../../ui/field.js';
import { Time } from '../../../ui/time.js';
import { useAct } from '../../../ui/use-act.js';

/** Deletes an account, once somebody has typed which one. */
export function DeleteAccount({ account: { id, name } }: { account: Account }) {
  const { act } = useAct();
  const [typed, setTyped] = useState('');
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
          () => api.delete('/v18.0/accounts/{id}', { headers: AT_HOME, params: { path: { id } } }),
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
    </Confirm>
  );
}

const STAGES = {
  access: 'Keys, links and logins are ended.',
  endpoints: 'Endpoints are removed.',
  deliveries: 'Open deliveries are cancelled.',
  done: 'All is done.',
} as const;

/** How far the deletion of an account is. */
export function Deletion({ account }: { account: Account }) {
  const { deletion, deletion_requested_at, deleted_at } = account;
  const stages = Object.keys(STAGES);
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
          What it has on record can still be read.
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
