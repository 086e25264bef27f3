import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { AT_HOME, api } from '../../../api/client.js';
import type { Account as AccountType } from '../../../api/types.js';
import { Card, PageHead } from '../../../shell/page.js';
import { mayAct, useHolderFor, useHome } from '../../../shell/use-session.js';
import { Copyable } from '../../../ui/copy.js';
import { To } from '../../../ui/link.js';
import { PageTabs } from '../../../ui/page-tabs.js';
import { Loaded } from '../../../ui/states.js';
import { Time } from '../../../ui/time.js';
import { AccountBadge } from '../accounts.js';
import { ApiKeys } from './api-keys.js';
import { DeleteAccount, Deletion } from './deletion.js';
import { Limits } from './limits.js';
import { Look } from './look.js';
import { PortalLink } from './portal-link.js';
import { RequestsLeft } from './requests-left.js';

/** How often an account is asked for while it is being deleted, milliseconds. */
const SOON_MS = 1_000;

/** The page of one account: act for it, let its subscriber in, limit it, its keys, delete it. */
export function Account() {
  const { id } = useParams({ strict: false }) as { id: string };
  const home = useHome().data;
  const scopes: readonly string[] = useHolderFor(id).data?.scopes ?? [];
  const account = useQuery({
    queryKey: ['account', id],
    queryFn: () =>
      api.get('/v18.0/accounts/{id}', { headers: AT_HOME, params: { path: { id } } }) as Promise<AccountType>,
    refetchInterval: ({ state }) => (state.data?.status === 'deleting' ? SOON_MS : false),
  });
  const manages =
    mayAct(home) &&
    (home?.scopes.includes('admin') ||
      (home?.scopes.includes('platform') && home.scopes.includes('keys:write')));
  return (
    <Loaded query={account} lines={6} page>
      {(data) => {
        const isActive = data.status === 'active';
        return (
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
                <>
                  {isActive && manages && home?.account.id !== id && (
                    <DeleteAccount
                      account={data}
                      canErase={home?.scopes.includes('subjects:write') ?? false}
                    />
                  )}
                  <To page="overview" account={id} className="button primary">
                    Act for this account
                  </To>
                </>
              }
            />
            {!isActive && <Deletion account={data} />}
            <PageTabs
              label="About this account"
              tabs={[
                {
                  name: 'overview',
                  text: 'Overview',
                  panel: (
                    <div className="columns">
                      <div className="stack">
                        {isActive && home?.scopes.includes('keys:write') && <PortalLink id={data.id} />}
                        {isActive && manages && <Limits account={data} />}
                        {isActive && manages && <Look account={data} />}
                      </div>
                      <div className="stack">
                        <Facts account={data} />
                        <RequestsLeft account={data.id} />
                      </div>
                    </div>
                  ),
                },
                scopes.includes('keys:read') && {
                  name: 'keys',
                  text: 'API keys',
                  panel: (
                    <ApiKeys
                      account={data}
                      grantable={isActive && scopes.includes('keys:write') ? scopes : []}
                    />
                  ),
                },
              ]}
            />
          </>
        );
      }}
    </Loaded>
  );
}

function Facts({ account }: { account: AccountType }) {
  return (
    <Card title="Account">
      <dl className="facts">
        <dt>Reference</dt>
        <dd>{account.reference ?? 'None'}</dd>
        <dt>Platform</dt>
        <dd>{account.platform_id ? <code>{account.platform_id}</code> : 'None'}</dd>
        <dt>Since</dt>
        <dd>
          <Time at={account.created_at} />
        </dd>
        <dt>Changes</dt>
        <dd>
          <To page="changes" account={account.id} search={{ resource: `account:${account.id}` }}>
            of this account
          </To>
        </dd>
      </dl>
    </Card>
  );
}
