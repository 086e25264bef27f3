import { useState } from 'react';
import { AT_HOME, api } from '../../../api/client.js';
import type { Account } from '../../../api/types.js';
import { Card } from '../../../shell/page.js';
import { TextField } from '../../../ui/field.js';
import { Failed } from '../../../ui/states.js';
import { useAct } from '../../../ui/use-act.js';

interface Props<Name extends string> {
  account: Account;
  title: string;
  /** Text of the button. */
  save: string;
  /** Texts of each field, but for its value. */
  fields: Record<
    Name,
    Pick<React.ComponentProps<typeof TextField>, 'label' | 'placeholder' | 'type' | 'min'>
  >;
  saved: Partial<Record<Name, string>>;
  /** Changed fields of the account; a field that is empty is `null`. */
  changeOf(texts: Record<Name, string | null>): object;
}

/** Fields of an account that are saved together; what is empty is as the installation has it. */
export function AccountFields<Name extends string>({
  account,
  title,
  save,
  fields,
  saved,
  changeOf,
}: Props<Name>) {
  const [values, setValues] = useState(saved);
  const [error, setError] = useState<Error>();
  const { act, busy } = useAct();
  const names = Object.keys(fields) as Name[];
  return (
    <Card title={title}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          const texts = Object.fromEntries(names.map((name) => [name, values[name]?.trim() || null]));
          act(
            () =>
              api.patch('/v18.0/accounts/{id}', {
                headers: AT_HOME,
                params: { path: { id: account.id } },
                body: changeOf(texts as Record<Name, string | null>) as never,
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
              {...fields[name]}
              value={values[name] ?? ''}
              set={(next) => setValues({ ...values, [name]: next })}
            />
          ))}
        </div>
        {error && <Failed error={error} />}
        <div>
          <button type="submit" className="button" disabled={busy}>
            {save}
          </button>
        </div>
      </form>
    </Card>
  );
}
