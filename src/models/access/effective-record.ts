import { isRegisteredRedirect } from '../../domain/access/oauth-client.js';
import type { LoginRepository } from './logins.js';
import type { OAuthClientRepository } from './oauth-clients.js';
import type { OAuthPayload } from './oauth-records.js';

/**
 * A grant, a code or a token without the scopes that its client is no longer registered for or its person may no longer allow. The
 * library checks both only when a person is asked for consent.
 *
 * @returns `undefined` after the client was removed, the redirect URI of a code was, or the person's login or password changed
 */
export async function effectiveRecord(
  record: OAuthPayload,
  { oauthClients, logins }: { oauthClients: OAuthClientRepository; logins: LoginRepository },
): Promise<OAuthPayload | undefined> {
  const { clientId = '', accountId, redirectUri, scope, openid } = record;
  const [client, login] = await Promise.all([
    oauthClients.find(clientId),
    accountId === undefined ? undefined : logins.ofSubject(accountId),
  ]);
  if (!client || (accountId !== undefined && login?.account_id !== client.account_id)) return undefined;
  if (redirectUri !== undefined && !isRegisteredRedirect(client, redirectUri)) return undefined;
  const allowed = new Set<string>(client.scopes.filter((name) => !login || login.scopes.includes(name)));
  const narrowed = (scopes: string) =>
    scopes
      .split(' ')
      .filter((name) => allowed.has(name))
      .join(' ');
  return {
    ...record,
    ...(scope !== undefined && { scope: narrowed(scope) }),
    ...(openid?.scope !== undefined && { openid: { ...openid, scope: narrowed(openid.scope) } }),
  };
}
