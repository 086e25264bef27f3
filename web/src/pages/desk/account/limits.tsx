import { useState } from 'react';
import { AT_HOME, api } from '../../../api/client.js';
import type { Account } from '../../../api/types.js';
import { Card } from '../../../shell/page.js';
import { TextField } from '../../../ui/field.js';
import { Failed } from '../../../ui/states.js';
import { useAct } from '../../../ui/use-act.js';

const LIMITS = {
  events_per_minute: 'Events per minute',
  requests_per_minute: 'Requests per minute and token',
  max_endpoints: 'Endpoints',
} as const;
type Limit = keyof typeof LIMITS;

/** The account's own limits; an empty one is the installation's. */
export function Limits({ account }: { account: Account }) {
  const [values, setValues] = useState<Partial<Record<Limit, string>>>(() =>
    Object.fromEntries(Object.entries(account.limits ?? {}).map(([name, value]) => [name, String(value)])),
  );
  const [error, setError] = useState<Error>();
  const { act, busy } = useAct();
  const names = Object.keys(LIMITS) as Limit[];
  return (
    <Card title="Limits">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const limits = Object.fromEntries(
            names.map((name) => [name, values[name] ? Number(values[name]) : null]),
          );
          act(
            () =>
              api.patch('/v18.0/accounts/{id}', {
                headers: AT_HOME,
                params: { path: { id: account.id } },
                body: { limits } as never,
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
              label={LIMITS[name]}
              type="number"
              min={1}
              placeholder="as installed"
              value={values[name] ?? ''}
              set={(next) => setValues({ ...values, [name]: next })}
            />
          ))}
        </div>
        {error && <Failed error={error} />}
        <div>
          <button type="submit" className="button" disabled={busy}>
            Save the limits
          </button>
        </div>
      </form>
    </Card>
  );
}
