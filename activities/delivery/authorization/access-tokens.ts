import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import * as oauth from 'oauth4webapi';
import { roomFor } from '../../../src/domain/basics/bounded-memory.js';
import { UNITS } from '../../../src/domain/basics/duration.js';
import { BEARER_TOKEN, type ClientCredentials } from '../../../src/domain/sending/delivery-options.js';
import type { HttpPoster } from '../../http/exchange.js';

/** Tokens that are remembered: those that were used last. */
const MAX_REMEMBERED = 10_000;
/** A token whose response says nothing of its end is used for so long, milliseconds. */
const DEFAULT_LIFETIME_MS = 5 * UNITS.m;
/** A token is replaced so long before its end, at most a tenth of its life: a request takes time. Milliseconds. */
const MARGIN_MS = 30_000;

/** Limits of one request for a token. */
export interface TokenRequest {
  /** The account whose endpoint it is for. */
  account: string | undefined;
  timeoutMs: number;
}

/** The token endpoint gave no token. Its message has no text of the server but an error code. */
export class NoTokenError extends Error {
  override readonly name = 'NoTokenError';
}

/**
 * Access tokens of OAuth 2.0 client credentials (RFC 6749, section 4.4). A token is kept until it expires, and all who
 * need it at the same time share one request, which goes out by the rules for deliveries. `oauth4webapi` makes and
 * reads the messages.
 */
export class AccessTokens {
  private readonly tokens: LRUCache<string, string, { grant: ClientCredentials; by: TokenRequest }>;

  constructor(poster: HttpPoster) {
    this.tokens = new LRUCache({
      ...roomFor(MAX_REMEMBERED),
      fetchMethod: async (_, __, { options, context: { grant, by } }) => {
        const { access_token, expires_in } = await fetchToken(poster, grant, by);
        const lifetimeMs = expires_in === undefined ? DEFAULT_LIFETIME_MS : expires_in * 1_000;
        options.ttl = Math.max(1, Math.floor(lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 10)));
        return access_token;
      },
    });
  }

  /**
   * @param refused a token that the receiver no longer takes
   * @throws NoTokenError
   */
  async of(grant: ClientCredentials, by: TokenRequest, refused?: string): Promise<string> {
    const key = hash('sha256', JSON.stringify([by.account, grant]));
    if (refused !== undefined && this.tokens.peek(key) === refused) this.tokens.delete(key);
    const token = await this.tokens.fetch(key, { context: { grant, by } });
    if (token === undefined) throw new NoTokenError('no token was asked for');
    return token;
  }
}

async function fetchToken(
  poster: HttpPoster,
  grant: ClientCredentials,
  { account, timeoutMs }: TokenRequest,
) {
  const { token_url, client_id, client_secret, client_auth, scope, audience } = grant;
  const server = { issuer: new URL(token_url).origin, token_endpoint: token_url };
  const authenticate =
    client_auth === 'client_secret_post' ? oauth.ClientSecretPost : oauth.ClientSecretBasic;
  const parameters = { ...(scope !== undefined && { scope }), ...(audience !== undefined && { audience }) };
  const client = { client_id };
  try {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authenticate(client_secret),
      parameters,
      {
        // The URL was checked when it was set, and only an installation that allows plain http takes such a one.
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: (url, { headers, body }) =>
          respond(poster, { method: 'POST', url, headers, body: String(body), timeoutMs, account }),
      },
    );
    const { access_token, expires_in } = await oauth.processClientCredentialsResponse(
      server,
      client,
      response,
    );
    if (!BEARER_TOKEN.test(access_token)) throw new NoTokenError('its token is none that a header can have');
    return { access_token, expires_in };
  } catch (error) {
    throw error instanceof NoTokenError ? error : new NoTokenError(wordsOf(error));
  }
}

/** Sends a request as deliveries are sent: to guarded addresses, with a limit of time, following no redirect. */
async function respond(
  poster: HttpPoster,
  { account, ...request }: Parameters<HttpPoster['exchange']>[0] & { account: string | undefined },
): Promise<Response> {
  const answer = await poster.exchange({ ...request, ...(account !== undefined && { account }) });
  if ('error_code' in answer) throw new NoTokenError(answer.error);
  if (answer.isCut) throw new NoTokenError('its response is too long, or did not end in time');
  const contentType = answer.headers['content-type'];
  return new Response(answer.body === '' ? null : answer.body, {
    status: answer.statusCode,
    headers: { 'content-type': String(contentType ?? '') },
  });
}

function wordsOf(error: unknown): string {
  if (error instanceof oauth.ResponseBodyError) {
    const code = /^[\w.-]{1,64}$/.test(error.error) ? ` (${error.error})` : '';
    return `it responded with ${error.status}${code}`;
  }
  const { cause } = error as { cause?: unknown };
  return cause instanceof Response
    ? `it responded with ${cause.status}`
    : 'its response is no token response';
}
