import { useQuery } from '@tanstack/react-query';
import { Outlet, useMatches, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { AT_HOME, api } from '../api/client.js';
import { actFor } from '../api/scope.js';
import type { Holder } from '../api/types.js';
import { To, useRole } from '../ui/link.js';
import { Empty, Failed, Loading } from '../ui/states.js';
import { ChooseAccount } from './choose-account.js';
import { mayActFor, useAccount, useHolder, useHome } from './use-session.js';

/** Pages of one account's things by their ids: an operator's link that names no account finds out whose they are. */
const BY_ID = /\/(deliveries|events|endpoints|replays|erasures)\/\$id$/;
/** Pages that an operator looks at for one account at a time. */
const OF_ONE =
  /\/(replays|replays\/new|kinds|kinds\/\$id|exports|feed|erasures|events|events\/scheduled|endpoints\/new)$/;

/** The page, for the account that its address names. */
export function Scoped() {
  const home = useHome();
  const account = useAccount();
  const role = useRole();
  const isAbroad = mayActFor(home.data) && role === 'desk';
  actFor(isAbroad ? account : undefined);
  if (home.data === undefined)
    return (
      <Main>
        {home.error ? (
          <Failed error={home.error} retry={() => void home.refetch()} page />
        ) : (
          <Loading lines={8} />
        )}
      </Main>
    );
  if (isAbroad)
    return (
      <>
        {account !== undefined && <Acting account={account} />}
        <Main key={account ?? ''}>{account === undefined ? <Whole home={home.data} /> : <Outlet />}</Main>
      </>
    );
  return <OwnAccount own={home.data.account} account={account} />;
}

/** Account in the address of the last session in this tab. */
let lastOwn: string | undefined;

/** The page, for a token that has one account. */
function OwnAccount({ own, account }: { own: Holder['account']; account: string | undefined }) {
  const isOwn = account === own.id;
  useEffect(() => {
    if (isOwn) lastOwn = own.id;
  }, [isOwn, own.id]);
  if (isOwn)
    return (
      <Main>
        <Outlet />
      </Main>
    );
  // An address left by a session that has ended is not a link.
  if (account === undefined || account === lastOwn) return <Named account={own.id} />;
  return (
    <Main>
      <Empty title="This link is about another account">
        <p>
          You are signed in for <strong>{own.name || own.id}</strong>. Sign in for the account of the link, or{' '}
          <To page="deliveries" account={own.id}>
            go to your own deliveries
          </To>
          .
        </p>
      </Empty>
    </Main>
  );
}

function Main({ children }: { children: React.ReactNode }) {
  return (
    <main id="main" className="page" tabIndex={-1}>
      {children}
    </main>
  );
}

/** Puts the only account that the token has into the address, so that a link works for a colleague. */
function Named({ account }: { account: string }) {
  const navigate = useNavigate();
  useEffect(() => {
    const search = (before: object) => ({ ...before, account });
    void navigate({ to: '.', search, replace: true, hash: true } as never);
  }, [navigate, account]);
  return (
    <Main>
      <Loading lines={8} />
    </Main>
  );
}

/** A page of the whole installation; of a platform, those of accounts alone. */
function Whole({ home }: { home: Holder }) {
  const path = useMatches().at(-1)?.routeId ?? '';
  const isOperator = home.scopes.includes('admin');
  if (/\/accounts(\/\$id)?$/.test(path)) return <Outlet />;
  if (!isOperator || OF_ONE.test(path)) return <ChooseAccount />;
  return BY_ID.test(path) ? <Owned /> : <Outlet />;
}

/** Finds out whose the thing of the address is, and goes on there. */
function Owned() {
  const { id } = useParams({ strict: false }) as { id: string };
  const navigate = useNavigate();
  const found = useQuery({
    queryKey: ['owner', id],
    queryFn: async () => {
      const { data } = await api.post('/v18.0/installation/search', {
        headers: AT_HOME,
        body: { query: id },
      });
      return data.find((one) => one.id === id)?.account.id ?? null;
    },
  });
  const owner = found.data;
  useEffect(() => {
    if (!owner) return;
    const search = (before: object) => ({ ...before, account: owner });
    void navigate({ to: '.', search, replace: true } as never);
  }, [navigate, owner]);
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} page />;
  if (found.data === null)
    return (
      <Empty title="No account has this">
        <p>
          Nothing of the id <code className="wrap">{id}</code> is kept.
        </p>
      </Empty>
    );
  return <Loading lines={8} />;
}

/** Says whose account an operator looks at, and leads back to all. */
function Acting({ account }: { account: string }) {
  const holder = useHolder();
  return (
    <section className="acting" aria-label="The account that you act for">
      <span>
        You act for <strong>{holder.data?.account.name || account}</strong>. What you see and do is this
        account's.
      </span>
      <To page="overview" everywhere className="button small">
        All accounts
      </To>
    </section>
  );
}
