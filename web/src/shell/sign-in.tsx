import { useState } from 'react';
import { type EndedLink as EndedLinkType, endedLink } from '../api/ended-link.js';
import { beginLogin, beginSingleSignOn, knownClient, redirectUri } from '../api/oauth.js';
import { BASE_PATH, type Role, writeSession } from '../api/session.js';
import { TextField } from '../ui/field.js';
import { Brand } from './look/brand.js';
import { SIGN_IN } from './look/read-meta.js';
import { OUR_NAME, useLook } from './look/use-look.js';
import { ThemeMenu } from './theme-menu.js';

const ABOUT: Record<Role, { title: string; text: string; other: Role; otherText: string }> = {
  portal: {
    title: 'Sign in to the portal',
    text: 'See which events your endpoints received, and manage them. If you were sent a link, open it: it signs you in.',
    other: 'desk',
    otherText: 'Operator? Go to the desk',
  },
  desk: {
    title: 'Sign in to the desk',
    text: 'Watch deliveries, find out why one did not arrive, and act on many at once.',
    other: 'portal',
    otherText: 'Subscriber? Go to the portal',
  },
};

/** Page without a session: sign in by an API key, or by OAuth if this browser knows the client. */
export function SignIn({ role }: { role: Role }) {
  const { title, text, other, otherText } = ABOUT[role];
  const { name } = useLook();
  const ended = role === 'portal' ? endedLink() : undefined;
  return (
    <div className="alone">
      <main>
        <div className="row apart">
          <span className="brand">
            <Brand />
          </span>
          <ThemeMenu />
        </div>
        <div className="card">
          <div className="body stack">
            {ended ? (
              <>
                <EndedLink link={ended} name={name} />
                <details>
                  <summary className="muted small">Sign in another way</summary>
                  <div className="stack">
                    <KeyForm role={role} />
                    <LoginForm role={role} />
                  </div>
                </details>
              </>
            ) : (
              <>
                <div>
                  <h1>{title}</h1>
                  <p className="muted">{text}</p>
                </div>
                {role === 'desk' && SIGN_IN?.single_sign_on && <SingleSignOn />}
                <KeyForm role={role} />
                <LoginForm role={role} />
              </>
            )}
          </div>
        </div>
        {name === OUR_NAME && !ended && (
          <p className="muted small">
            <a href={`${BASE_PATH}/${other}`}>{otherText}</a>
          </p>
        )}
      </main>
    </div>
  );
}

/** First notice to somebody whose link has ended: where to get another. */
function EndedLink({ link, name }: { link: EndedLinkType; name: string }) {
  const where = name === OUR_NAME ? 'where you got it' : name;
  return (
    <div className="stack tight" role="alert">
      <h1>Your link has expired</h1>
      <p>Go back to {link.return_url ? <a href={link.return_url}>{where}</a> : where} for a new one.</p>
    </div>
  );
}

/** Sign-in with the account that a person has in their organisation. */
function SingleSignOn() {
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const begin = () => {
    setBusy(true);
    beginSingleSignOn()
      .catch((reason: Error) => setError(reason.message))
      .finally(() => setBusy(false));
  };
  return (
    <div className="stack tight">
      <button type="button" className="button primary" disabled={busy} onClick={begin}>
        Single sign-on
      </button>
      {error !== undefined && (
        <div className="notice bad" role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

function KeyForm({ role }: { role: Role }) {
  const [token, setToken] = useState('');
  const [mistake, setMistake] = useState<string>();
  return (
    <form
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        const given = token.trim();
        if (/^[\w-]{20,}$/.test(given)) writeSession(role, { token: given });
        else setMistake('This is not a key. Keys begin with hlk_, or hlps_ if they are of a portal link.');
      }}
    >
      <TextField
        label="API key"
        mistake={mistake}
        hint="It stays in this browser until you sign out, for twelve hours at most."
        code
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={token}
        set={setToken}
      />
      <button type="submit" className="button primary">
        Sign in
      </button>
    </form>
  );
}

/**
 * Login by name and password needs the id of the account's OAuth client: from the link (`?client=…`), or typed once.
 */
function LoginForm({ role }: { role: Role }) {
  const [client, setClient] = useState(knownClient);
  const [error, setError] = useState<string>();
  return (
    <details open={client !== ''}>
      <summary className="muted small">Sign in with a name and password</summary>
      <form
        className="stack tight"
        onSubmit={(event) => {
          event.preventDefault();
          beginLogin(role, client.trim()).catch((reason: Error) => setError(reason.message));
        }}
      >
        <TextField
          label="Client id"
          mistake={error}
          hint={
            <>
              Of the account's OAuth client. Its redirect URI is{' '}
              <code className="wrap">{redirectUri(role)}</code>
            </>
          }
          code
          required
          pattern="client_\w+"
          placeholder="client_…"
          value={client}
          set={setClient}
        />
        <button type="submit" className="button">
          Continue to log in
        </button>
      </form>
    </details>
  );
}
