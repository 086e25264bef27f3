import { useState } from 'react';
import { actingFor, api } from '../../../api/client.js';
import type { ApiKey } from '../../../api/types.js';
import { Confirm } from '../../../ui/dialog.js';
import { Field, TextField } from '../../../ui/field.js';
import { useAct } from '../../../ui/use-act.js';
import { type MadeKey, NewKey } from './new-key.js';

const DAY_MS = 86_400_000;

/** When a new key can end, in days from now. */
const LIVES = [
  ['', 'Never'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

/** Makes a key, and shows it once. @param grantable what the maker holds, and can give on */
export function CreateKey({ accountId, grantable }: { accountId: string; grantable: readonly string[] }) {
  const { act } = useAct();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>([]);
  const [days, setDays] = useState('');
  const [key, setKey] = useState<MadeKey>();
  const create = async () => {
    const made = await act(
      () =>
        api.post('/v18.0/api_keys', {
          headers: actingFor(accountId),
          body: {
            name: name.trim(),
            scopes: scopes as ApiKey['scopes'],
            ...(days !== '' && { expires_at: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
          },
        }),
      'The key is there.',
      { quiet: true },
    );
    setKey(made);
    setName('');
    setScopes([]);
    setDays('');
  };
  return (
    <>
      <Confirm
        trigger={<button type="button" className="button" />}
        label="New key"
        title="New API key"
        action="Create"
        ready={name.trim() !== '' && scopes.length > 0}
        act={create}
      >
        <TextField
          label="Name"
          hint="Which system calls with it."
          maxLength={256}
          autoComplete="off"
          value={name}
          set={setName}
        />
        <fieldset className="field">
          <legend>What it may do</legend>
          <div className="choices">
            {grantable.map((scope) => (
              <label key={scope} className="choice">
                <input
                  type="checkbox"
                  checked={scopes.includes(scope)}
                  onChange={({ target: { checked } }) =>
                    setScopes(checked ? [...scopes, scope] : scopes.filter((each) => each !== scope))
                  }
                />
                {scope}
              </label>
            ))}
          </div>
          <div className="hint">You can give what you may do yourself. Choose at least one.</div>
        </fieldset>
        <Field label="It ends" hint="At the latest when the key that you have signed in with does.">
          {(props) => (
            <select
              {...props}
              className="input"
              value={days}
              onChange={(event) => setDays(event.target.value)}
            >
              {LIVES.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Confirm>
      <NewKey title="The new API key" made={key} close={() => setKey(undefined)} />
    </>
  );
}
