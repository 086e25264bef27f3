import { useState } from 'react';
import { AT_HOME, api } from '../../../api/client.js';
import type { Account } from '../../../api/types.js';
import { Card } from '../../../shell/page.js';
import { TextField } from '../../../ui/field.js';
import { Failed } from '../../../ui/states.js';
import { useAct } from '../../../ui/use-act.js';

const FIELDS = {
  name: ['Name', 'Acme Events'],
  logo_url: ['Logo', 'https://cdn.example.com/logo.svg'],
  color: ['Colour', '#0a7f5a'],
} as const;
type FieldName = keyof typeof FIELDS;

/** How the portal of the account looks; what is empty is as the installation has it. */
export function Look({ account }: { account: Account }) {
  const [values, setValues] = useState<Partial<Record<FieldName, string>>>(() => ({ ...account.portal }));
  const [error, setError] = useState<Error>();
  const { act, busy } = useAct();
  const names = Object.keys(FIELDS) as FieldName[];
  return (
    <Card title="Look of its portal">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const portal = Object.fromEntries(names.map((name) => [name, values[name]?.trim() || null]));
          act(
            () =>
              api.patch('/v18.0/accounts/{id}', {
                headers: AT_HOME,
                params: { path: { id: account.id } },
                body: { portal } as never,
              }),
            'Saved.',
            { quiet: true },
          ).then(() => setError(undefined), setError);
        }}
      >
        <div className="filters">
          {names.map((name) => (
            <TextField
              key={name}
              label={FIELDS[name][0]}
              placeholder={FIELDS[name][1]}
              value={values[name] ?? ''}
              set={(next) => setValues({ ...values, [name]: next })}
            />
          ))}
        </div>
        {error && <Failed error={error} />}
        <div>
          <button type="submit" className="button" disabled={busy}>
            Save the look
          </button>
        </div>
      </form>
    </Card>
  );
}
