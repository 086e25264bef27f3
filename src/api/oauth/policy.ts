import { type Client, interactionPolicy } from 'oidc-provider';
import { isLoopbackRedirect } from '../../domain/access/oauth-client.js';
import type { Database } from '../../models/database.js';

/** The account that a client is registered for. */
export function accountOf(client: Client): string {
  return String(client['account_id']);
}

/** When a person is asked to log in or to consent, besides the library's own reasons. */
export function interactions({ logins }: Database) {
  const { base, Check } = interactionPolicy;
  const policy = base();
  policy.get('login')?.checks.add(
    new Check('no_login', 'a login of this account is required', 'login_required', async ({ oidc }) => {
      const { session, client } = oidc;
      if (!session?.accountId || !client) return Check.NO_NEED_TO_PROMPT;
      const login = await logins.ofSubject(session.accountId);
      return login?.account_id === accountOf(client) ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT;
    }),
  );
  policy.get('consent')?.checks.add(
    // Any program on the person's device could listen there and use the consent of another (RFC 8252, section 8.6).
    new Check('loopback_client', 'a client on the device asks each time', 'consent_required', ({ oidc }) => {
      const redirectUri = oidc.params?.['redirect_uri'];
      const onDevice =
        oidc.client?.tokenEndpointAuthMethod === 'none' &&
        typeof redirectUri === 'string' &&
        isLoopbackRedirect(redirectUri);
      return onDevice && !oidc.result?.consent ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT;
    }),
  );
  return policy;
}
