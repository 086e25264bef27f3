import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { holderOf } from '../api/client.js';
import { knownClient } from '../api/oauth.js';
import { answerOffer, currentOffer, subscribeToOffers } from '../api/offers.js';
import type { Holder } from '../api/types.js';
import { Confirm } from '../ui/dialog.js';
import { useHolder } from './use-session.js';

/** Asks before a link replaces the session, or the client that people log in through. */
export function LinkOffer() {
  const offer = useSyncExternalStore(subscribeToOffers, currentOffer);
  if (!offer) return null;
  return 'token' in offer ? <TokenOffer token={offer.token} /> : <ClientOffer client={offer.client} />;
}

const stay = () => answerOffer(false);
const accept = async () => answerOffer(true);
const setOpen = (open: boolean) => {
  if (!open) stay();
};

function TokenOffer({ token }: { token: string }) {
  const current = useHolder();
  const offered = useQuery({ queryKey: ['offer', token], queryFn: () => holderOf(token) });
  return (
    <Confirm
      title="Leave this session for that of the link?"
      action="Use the link"
      open
      setOpen={setOpen}
      ready={offered.data !== undefined}
      act={accept}
    >
      {offered.error ? (
        <p role="alert">The link does not work any more. Nothing has changed.</p>
      ) : (
        <p>
          The link that you opened is for <Named holder={offered.data} />. You are signed in for{' '}
          <Named holder={current.data} />.
        </p>
      )}
      <p className="muted small">
        Whoever made the link can see what you do there. Use it only if you know who sent it.
      </p>
    </Confirm>
  );
}

function Named({ holder }: { holder: Holder | undefined }) {
  if (!holder) return <>…</>;
  const { account, name } = holder;
  return (
    <>
      <strong>{account.name || account.id}</strong> ({name})
    </>
  );
}

function ClientOffer({ client }: { client: string }) {
  const current = useHolder();
  return (
    <Confirm
      title="Sign in through another client?"
      action="Use the link"
      open
      setOpen={setOpen}
      act={accept}
    >
      <p>
        The link that you opened is for signing in through <code className="wrap">{client}</code>
        {knownClient() !== '' && (
          <>
            , and not <code className="wrap">{knownClient()}</code>
          </>
        )}
        .
        {current.data && (
          <>
            {' '}
            You are signed in for <Named holder={current.data} />, which ends.
          </>
        )}
      </p>
      <p className="muted small">
        The client decides whose names and passwords are asked for. Use it only if you know who sent the link.
      </p>
    </Confirm>
  );
}
