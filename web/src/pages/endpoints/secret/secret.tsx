import { useState } from 'react';
import { api } from '../../../api/client.js';
import type { Endpoint } from '../../../api/types.js';
import { Copyable } from '../../../ui/copy.js';
import { Confirm } from '../../../ui/dialog.js';
import { Failed } from '../../../ui/states.js';
import { Time } from '../../../ui/time.js';
import { useAct } from '../../../ui/use-act.js';
import { SchemeField } from './scheme-field.js';
import { type Keys, SCHEMES, type Scheme } from './schemes.js';
import { VerifyCode } from './verify-code.js';

/** How long the old secret signs as well after a rotation. */
const OVERLAPS = { '24h': '24 hours', '7d': '7 days', '0s': 'not at all' } as const;

/** A secret in clear, or a public key: it is on the screen as long as the page is. */
export function SecretBox({ keys }: { keys: Keys }) {
  const value = keys.secret ?? keys.public_key ?? '';
  return (
    <div className="stack tight">
      <div className="code">
        <div className="secret">
          <Copyable text={value} name={`the ${SCHEMES[keys.signature_scheme].key}`} />
        </div>
      </div>
      {keys.previous_expires_at && (
        <p className="muted small">
          The previous one signs as well until <Time at={keys.previous_expires_at} />.
        </p>
      )}
    </div>
  );
}

/** Shows the secret of an endpoint, or its public key, when it is asked for, rotates it, and has code that uses it. */
export function SecretPanel({
  endpoint: { id, signature_scheme },
  mayRead,
  mayRotate,
}: {
  endpoint: Pick<Endpoint, 'id' | 'signature_scheme'>;
  mayRead: boolean;
  mayRotate: boolean;
}) {
  const [keys, setKeys] = useState<Keys>();
  const [error, setError] = useState<Error>();
  const [overlap, setOverlap] = useState<keyof typeof OVERLAPS>('24h');
  const [scheme, setScheme] = useState<Scheme>();
  const { act } = useAct();
  const path = { id };
  const signed = keys?.signature_scheme ?? signature_scheme;
  const { key } = SCHEMES[signed];
  return (
    <div className="stack">
      <p>
        Each delivery is signed (Standard Webhooks). Your application checks the signature with this {key}, so
        that it takes nothing from anybody else.
      </p>
      {keys && <SecretBox keys={keys} />}
      {error && <Failed error={error} />}
      <div className="row">
        {!keys && mayRead && (
          <button
            type="button"
            className="button"
            onClick={() =>
              void api.get('/v18.0/endpoints/{id}/secret', { params: { path } }).then(setKeys, setError)
            }
          >
            Show the {key}
          </button>
        )}
        {keys && (
          <button type="button" className="button" onClick={() => setKeys(undefined)}>
            Hide the {key}
          </button>
        )}
        {mayRotate && keys?.previous_expires_at && (
          <Confirm
            trigger={<button type="button" className="button" />}
            label="End the overlap…"
            title="Sign with the new secret alone?"
            action="End the overlap"
            act={async () => {
              await act(
                () => api.delete('/v18.0/endpoints/{id}/secret/previous', { params: { path } }),
                'Only the new secret signs from now on.',
                { quiet: true },
              );
              const { previous_expires_at: _ended, ...rest } = keys;
              setKeys(rest);
            }}
          >
            <p>An application that still has the previous secret refuses deliveries from now on.</p>
          </Confirm>
        )}
        {mayRotate && (
          <Confirm
            trigger={<button type="button" className="button" onClick={() => setScheme(undefined)} />}
            label="Rotate…"
            title="Rotate the signing secret"
            action="Rotate"
            act={async () => {
              setKeys(
                await act(
                  () =>
                    api.post('/v18.0/endpoints/{id}/secret/rotate', {
                      params: { path },
                      body: { overlap, signature_scheme: scheme },
                    }),
                  'The secret has been rotated.',
                  { quiet: true },
                ),
              );
            }}
          >
            <p>
              A new secret signs from now on. Choose how long the current one signs as well, so that you can
              change it in your application.
            </p>
            <fieldset>
              <legend className="visually-hidden">How long both sign</legend>
              <div className="choices">
                {Object.entries(OVERLAPS).map(([value, name]) => (
                  <label key={value} className="choice">
                    <input
                      type="radio"
                      name="overlap"
                      checked={overlap === value}
                      onChange={() => setOverlap(value as keyof typeof OVERLAPS)}
                    />
                    {name}
                  </label>
                ))}
              </div>
            </fieldset>
            <SchemeField
              hint="Change it only if your application can verify the new one."
              scheme={scheme ?? signature_scheme}
              set={setScheme}
            />
          </Confirm>
        )}
      </div>
      <VerifyCode scheme={signed} secret={keys?.secret} />
    </div>
  );
}
