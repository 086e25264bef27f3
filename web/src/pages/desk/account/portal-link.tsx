import { useState } from 'react';
import { AT_HOME, api } from '../../../api/client.js';
import { Card } from '../../../shell/page.js';
import { Copyable } from '../../../ui/copy.js';
import { TextField } from '../../../ui/field.js';
import { Failed } from '../../../ui/states.js';
import { Time } from '../../../ui/time.js';
import { useAct } from '../../../ui/use-act.js';

/** Makes a link with which a subscriber of the account gets into the portal. */
export function PortalLink({ id }: { id: string }) {
  const [name, setName] = useState('');
  const [link, setLink] = useState<{ url: string; expires_at: string }>();
  const [error, setError] = useState<Error>();
  const { act, busy } = useAct();
  return (
    <Card title="Link to the portal">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          act(
            () =>
              api.post('/v18.0/accounts/{id}/portal_sessions', {
                headers: AT_HOME,
                params: { path: { id } },
                body: (name === '' ? {} : { name }) as never,
              }),
            undefined,
            { quiet: true },
          ).then((session) => {
            setError(undefined);
            setLink(session);
          }, setError);
        }}
      >
        <p>
          Whoever opens the link sees and manages this account's endpoints and deliveries for an hour. They
          need no key.
        </p>
        <TextField
          label="For whom"
          hint="Shown in the portal, and in the changes that are made with it."
          placeholder="Ada at Acme"
          value={name}
          set={setName}
        />
        {error && <Failed error={error} />}
        {link && (
          <div className="notice info">
            <div>
              <Copyable text={link.url} name="the link" />
              <p className="small">
                Shown only now. It ends <Time at={link.expires_at} show="relative" />.
              </p>
            </div>
          </div>
        )}
        <div>
          <button type="submit" className="button" disabled={busy}>
            Make a link
          </button>
        </div>
      </form>
    </Card>
  );
}
