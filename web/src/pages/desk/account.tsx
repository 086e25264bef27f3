import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { AT_HOME, api } from '../../api/client.js';
import { readSession, writeSession } from '../../api/session.js';
import type { Account as AccountType } from '../../api/types.js';
import { Card, PageHead } from '../../shell/page.js';
import { Copyable } from '../../ui/copy.js';
import { TextField } from '../../ui/field.js';
import { To, useRole } from '../../ui/link.js';
import { Failed, Loaded } from '../../ui/states.js';
import { Time } from '../../ui/time.js';
import { useAct } from '../../ui/use-act.js';
import { AccountBadge } from './accounts.js';

/** The page of one account: act for it, let its subscriber in, limit it. */
export function Account() {
  const { id } = useParams({ strict: false }) as { id: string };
  const role = useRole();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const account = useQuery({
    queryKey: ['account', id],
    queryFn: () =>
      api.get('/v18.0/accounts/{id}', { headers: AT_HOME, params: { path: { id } } }) as Promise<AccountType>,
  });
  const actFor = async () => {
    writeSession(role, { ...(readSession(role) ?? { token: '' }), account: id });
    await queryClient.resetQueries();
    void navigate({ to: '/$role/overview', params: { role } } as never);
  };
  return (
    <Loaded query={account} lines={6} page>
      {(data) => (
        <>
          <PageHead
            title={data.name}
            heading={
              <span className="row">
                {data.name} <AccountBadge status={data.status} />
              </span>
            }
            crumbs={<To page="accounts">Accounts</To>}
            about={<Copyable text={data.id} name="the id" />}
            actions={
              <button type="button" className="button primary" onClick={() => void actFor()}>
                Act for this account
              </button>
            }
          />
          <div className="columns">
            <div className="stack">
              <PortalLink id={data.id} />
              <Limits account={data} />
            </div>
            <Card title="Account">
              <dl className="facts">
                <dt>Reference</dt>
                <dd>{data.reference ?? 'None'}</dd>
                <dt>Platform</dt>
                <dd>{data.platform_id ? <code>{data.platform_id}</code> : 'None'}</dd>
                <dt>Since</dt>
                <dd>
                  <Time at={data.created_at} />
                </dd>
                <dt>Changes</dt>
                <dd>
                  <To page="changes" search={{ resource: `account:${data.id}` }}>
                    of this account
                  </To>
                </dd>
              </dl>
            </Card>
          </div>
        </>
      )}
    </Loaded>
  );
}

/** Makes a link with which a subscriber of the account gets into the portal. */
function PortalLink({ id }: { id: string }) {
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

const LIMITS = {
  events_per_minute: 'Events per minute',
  requests_per_minute: 'Requests per minute and token',
  max_endpoints: 'Endpoints',
} as const;
type Limit = keyof typeof LIMITS;

/** The account's own limits; an empty one is the installation's. */
function Limits({ account }: { account: AccountType }) {
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
