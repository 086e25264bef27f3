import { outcomeOfClient, outcomeOfToken } from './link-rules.js';
import { knownClient, rememberClient } from './oauth.js';
import { BASE_PATH, currentRole, readSession, writeSession } from './session.js';

/**
 * Session that a link would put in the place of the present one. Anybody can write a link, so the person is asked
 * first: a stranger's would sign them in as the stranger, who sees what they do from then on.
 */
export type Offer = { token: string } | { client: string };

let offer: Offer | undefined;
const listeners = new Set<() => void>();

/** The offer to ask about; the same object until it changes, as React asks of a store. */
export const currentOffer = () => offer;

/** Calls back when there is something to ask about, or no longer. */
export function subscribeToOffers(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function setOffer(next: Offer | undefined): void {
  offer = next;
  for (const listener of listeners) listener();
}

/**
 * Takes the token out of a link such as `/portal#token=…`. The fragment is never sent to a server; it is removed from
 * the address and the browser's history at once, whatever becomes of it.
 */
export function takeTokenFromLink(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  const role = currentRole();
  const outcome = outcomeOfToken(token, role, readSession(role)?.token);
  if (outcome === 'taken') writeSession(role, { token });
  if (outcome === 'asked about') setOffer({ token });
}

/** Remembers the client that the address names, such as `/portal?client=client_…`. */
export function takeClientFromLink(): void {
  const client = new URLSearchParams(location.search).get('client');
  if (client === null) return;
  const outcome = outcomeOfClient(client, knownClient(), readSession(currentRole()) !== undefined);
  if (outcome === 'taken') rememberClient(client);
  if (outcome === 'asked about') setOffer({ client });
}

/** Ends the question with what the person has said. */
export function answerOffer(isAccepted: boolean): void {
  const asked = offer;
  setOffer(undefined);
  if (!asked) return;
  if ('client' in asked) forgetClientInAddress();
  if (!isAccepted) return;
  if ('client' in asked) {
    rememberClient(asked.client);
    // Sessions of the other client end with it.
    writeSession(currentRole(), undefined);
    return;
  }
  // Ended first: data read for the previous person is forgotten.
  writeSession('portal', undefined);
  writeSession('portal', { token: asked.token });
  // A page that is open may be about what the other account alone has.
  location.assign(`${BASE_PATH}/portal`);
}

/** Or the question would be asked again with each reload. */
function forgetClientInAddress(): void {
  const query = new URLSearchParams(location.search);
  query.delete('client');
  const text = query.size > 0 ? `?${query}` : '';
  history.replaceState(history.state, '', location.pathname + text);
}
