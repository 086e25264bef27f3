import { generateKeyPairSync } from 'node:crypto';
import Provider, { type Client } from 'oidc-provider';
import { SCOPES } from '../../domain/access/api-key.js';
import {
  CLIENT_AUTH_METHODS,
  type ClientAuthMethod,
  isRegisteredRedirect,
} from '../../domain/access/oauth-client.js';
import { matchesHash } from '../../domain/access/secret-hash.js';
import { UNITS } from '../../domain/basics/duration.js';
import { hmac } from '../../domain/basics/symmetric.js';
import type { ApiDependencies } from '../http/context.js';
import { pathOf } from '../web/web-routes.js';
import { createAdapter } from './adapter.js';
import { answerErrors, completeAnswers, renderErrorPage } from './answers.js';
import { INTERACTION_PATH, type Pages } from './pages.js';
import { accountOf, interactions } from './policy.js';

const HOUR_S = UNITS.h / UNITS.s;
/** Seconds. */
const LIFETIMES = {
  AccessToken: HOUR_S,
  AuthorizationCode: 60,
  ClientCredentials: HOUR_S,
  Grant: 30 * 24 * HOUR_S,
  Interaction: 600,
  RefreshToken: 30 * 24 * HOUR_S,
  Session: 8 * HOUR_S,
};

/**
 * The OAuth 2.0 server: client credentials, authorization code with PKCE, refresh tokens that rotate, revocation (RFC
 * 7009), introspection (RFC 7662), and discovery (RFC 8414). Its tokens are opaque. It is not an OpenID provider: there
 * are no id tokens.
 *
 * @param pages what people see
 * @param cookieSecret signs the cookies of people who log in; the same in every process
 */
export function createOAuthProvider(
  dependencies: ApiDependencies,
  pages: Pages,
  cookieSecret: string,
): Provider {
  const { database, publicUrl, isUnavailable } = dependencies;
  const basePath = pathOf(publicUrl);
  const cookie = {
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    path: `${basePath}/oauth`,
    secure: new URL(publicUrl).protocol === 'https:',
  } as const;
  const cookieKey = hmac(cookieSecret).update('oauth cookies').digest('base64url');

  const provider = new Provider(publicUrl, {
    adapter: createAdapter(database),
    // Nothing of a client is at an address of its own, so that nothing is read from there.
    fetch: () => Promise.reject(new Error('this server fetches nothing')),
    clientAuthMethods: [...CLIENT_AUTH_METHODS],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    extraClientMetadata: { properties: ['account_id'] },
    jwks: { keys: [requiredKey()] },
    cookies: {
      keys: [cookieKey],
      names: { session: 'hookline_session', interaction: 'hookline_interaction', resume: 'hookline_resume' },
      long: cookie,
      short: cookie,
    },
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      revocation: '/oauth/revoke',
      introspection: '/oauth/introspect',
      jwks: '/oauth/jwks',
    },
    interactions: {
      url: (_ctx, { uid }) => `${basePath}${INTERACTION_PATH}/${uid}`,
      policy: interactions(database),
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      clientCredentials: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId,
      },
      introspection: {
        enabled: true,
        async allowedPolicy(_ctx, client, token) {
          if (client.tokenEndpointAuthMethod === 'none') return token.clientId === client.clientId;
          const owner = token.clientId ? await database.oauthClients.find(token.clientId) : undefined;
          return owner?.account_id === accountOf(client);
        },
      },
    },
    pkce: { required: () => true },
    responseTypes: ['code'],
    scopes: [...SCOPES],
    subjectTypes: ['public'],
    ttl: LIFETIMES,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    // A refresh token is for when the person is away.
    expiresWithSession: async () => false,
    // Otherwise a later login would continue a grant whose tokens are all revoked.
    revokeGrantPolicy: () => true,
    clientBasedCORS: (_ctx, origin, client) =>
      (client.redirectUris ?? []).some((uri) => new URL(uri).origin === origin),
    async findAccount(_ctx, subject) {
      const login = await database.logins.ofSubject(subject);
      return login && { accountId: subject, claims: async () => ({ sub: login.profile_id }) };
    },
    extraTokenClaims: (_ctx, token) =>
      token.kind === 'AccessToken' || token.kind === 'ClientCredentials'
        ? { account_id: accountOf((token as unknown as { client: Client }).client) }
        : undefined,
    async renderError(ctx, out, error) {
      ctx.type = 'html';
      ctx.body = isUnavailable(error) ? pages.unavailable() : renderErrorPage(pages, out);
    },
  });

  pinToIssuer(provider);
  completeAnswers(provider, pages);
  answerErrors(provider, dependencies, pages);
  Object.assign(provider.Client.prototype, {
    redirectUriAllowed(this: Client, redirectUri: string) {
      const redirect_uris = this.redirectUris ?? [];
      const token_endpoint_auth_method = this.tokenEndpointAuthMethod as ClientAuthMethod;
      return isRegisteredRedirect({ redirect_uris, token_endpoint_auth_method }, redirectUri);
    },
    compareClientSecret(this: Client, secret: string) {
      return (this.clientSecret ?? '').split(' ').some((hash) => matchesHash(secret, hash));
    },
  });
  return provider;
}

/**
 * Makes the library build every address from the issuer alone. By itself it believes the request's `Host` and
 * `X-Forwarded-Host`, so that a sender of requests, or an attacker who can poison a cache, chooses the endpoints in the
 * metadata and the target of redirects.
 */
function pinToIssuer(provider: Provider): void {
  const { protocol, host } = new URL(provider.issuer);
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
  });
  const urlFor: Provider['urlFor'] = (name, options) => provider.urlFor(name, options);
  Object.assign(provider.OIDCContext.prototype, { urlFor });
}

/**
 * The library requires a signing key. Nothing is signed with it, because there are no id tokens, so each process makes
 * its own.
 */
function requiredKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' };
}
