import { LRUCache } from 'lru-cache';
import * as oauth from 'oauth4webapi';
import { boundedQueue, QueueFullError } from '../../domain/basics/bounded-queue.js';
import { UNITS } from '../../domain/basics/duration.js';
import { isObject } from '../../domain/basics/objects.js';
import { isSecureOrLocal, parseUrl } from '../../domain/basics/parse-url.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';

/** How long a step of a sign-in may take, with all that the provider is asked in it. Milliseconds. */
const STEP_MS = 6_000;
/** How long the provider's metadata are remembered, milliseconds. */
const METADATA_MS = UNITS.h;
/** Calls to the provider under way in one process: strangers begin sign-ins, too. */
export const MAX_PROVIDER_CALLS = 16;
/** How far the provider's clock may be off, seconds. */
const CLOCK_TOLERANCE_S = 60;

/** The provider cannot be reached, does not respond as OpenID Connect has it, or refuses Hookline itself. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';
}

/** The provider's response does not sign a person in. Messages hold codes alone, nothing of a token. */
export class SignInRefusedError extends Error {
  override readonly name = 'SignInRefusedError';
}

/** Hookline as the provider's client. */
export interface OpenIdClient {
  issuer: string;
  clientId: string;
  /** Absent: a public client. */
  clientSecret: string | undefined;
  scope: string;
  redirectUri: string;
  /** The roles in some claims; `undefined`: there are none. UserInfo is asked if the ID token has none. */
  rolesIn(claims: object): unknown;
}

/** A person who has signed in, as the provider describes them. */
export interface SignedIn {
  claims: oauth.IDToken;
  /** The role claim of the ID token or, if that has none, of UserInfo. */
  roles: unknown;
}

/** Sends a request, within limits of time and length, and follows no redirect. */
export type ProviderFetch = (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string },
) => Promise<Response>;

/** Secrets of one sign-in, which only the browser that began it, and the provider's response to it, lead back to. */
export interface Challenge {
  state: string;
  nonce: string;
  verifier: string;
}

export function newChallenge(): Challenge {
  return {
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
  };
}

/**
 * An OpenID provider: discovery, authorization code with PKCE, state and nonce, and an ID token whose signature,
 * issuer, audience and times are checked. `oauth4webapi` makes and checks the messages.
 */
export class OpenIdProvider {
  readonly #client: OpenIdClient;
  readonly #options: ReturnType<typeof optionsOf>;
  /** Those who ask at the same time share a request. A failure is not remembered. */
  readonly #metadata: LRUCache<string, oauth.AuthorizationServer>;

  constructor(client: OpenIdClient, fetch: ProviderFetch) {
    this.#client = client;
    this.#options = optionsOf(fetch);
    this.#metadata = new LRUCache({ max: 1, ttl: METADATA_MS, fetchMethod: () => this.#discover() });
  }

  /** The host of the provider, as people know it. */
  get host(): string {
    return new URL(this.#client.issuer).host;
  }

  /** The address where a person signs in. @throws ProviderUnavailableError or QueueFullError */
  authorizationUrl({ state, nonce, verifier }: Challenge): Promise<string> {
    return inTime(async () => {
      const { authorization_endpoint = '' } = await this.#server();
      const url = parseUrl(authorization_endpoint);
      if (!url || !isSecureOrLocal(url))
        throw new ProviderUnavailableError('its authorization_endpoint is not https');
      const parameters = {
        response_type: 'code',
        client_id: this.#client.clientId,
        redirect_uri: this.#client.redirectUri,
        scope: this.#client.scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    });
  }

  /**
   * The person who has signed in.
   *
   * @param response parameters with which the provider sent the person back
   * @throws ProviderUnavailableError, SignInRefusedError or QueueFullError
   */
  person(response: URLSearchParams, challenge: Challenge): Promise<SignedIn> {
    return inTime(async () => {
      const server = await this.#server();
      try {
        return await this.#exchange(server, response, challenge);
      } catch (error) {
        throw asOurs(error);
      }
    });
  }

  async #exchange(
    server: oauth.AuthorizationServer,
    parameters: URLSearchParams,
    { state, nonce, verifier }: Challenge,
  ): Promise<SignedIn> {
    const { clientId, redirectUri, rolesIn } = this.#client;
    const client = { client_id: clientId, [oauth.clockTolerance]: CLOCK_TOLERANCE_S };
    const answer = oauth.validateAuthResponse(server, client, parameters, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      this.#authentication(server),
      answer,
      redirectUri,
      verifier,
      this.#options,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, this.#options);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    if (!claims) throw new SignInRefusedError('no ID token');
    const roles = rolesIn(claims);
    if (roles !== undefined || server.userinfo_endpoint === undefined) return { claims, roles };
    const found = await oauth.userInfoRequest(server, client, tokens.access_token, this.#options);
    const userInfo = await oauth.processUserInfoResponse(server, client, claims.sub, found);
    return { claims: { ...userInfo, ...claims }, roles: rolesIn(userInfo) };
  }

  #authentication({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer) {
    const { clientSecret } = this.#client;
    if (clientSecret === undefined) return oauth.None();
    const byPost = methods !== undefined && !methods.includes('client_secret_basic');
    return byPost ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
  }

  async #server(): Promise<oauth.AuthorizationServer> {
    const server = await this.#metadata.fetch('');
    if (!server) throw new ProviderUnavailableError('its metadata were not read');
    return server;
  }

  async #discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(this.#client.issuer);
    const response = await oauth.discoveryRequest(issuer, this.#options);
    return oauth.processDiscoveryResponse(issuer, response).catch(() => {
      throw new ProviderUnavailableError(
        `its discovery document (${response.status}) is not valid, or of another issuer`,
      );
    });
  }
}

/** Gives a step up that takes too long. @throws ProviderUnavailableError, or what else is ours */
function inTime<T>(step: () => Promise<T>): Promise<T> {
  return withTimeout(STEP_MS, step()).catch((error: unknown) => {
    if (isOurs(error)) throw error;
    throw new ProviderUnavailableError(codeOf(error));
  });
}

/** How the library sends requests. */
function optionsOf(fetch: ProviderFetch) {
  const call = boundedQueue({ running: MAX_PROVIDER_CALLS, waiting: 0 });
  const bounded: ProviderFetch = (url, request) => call(() => fetch(url, request));
  return {
    // Plain http is for this machine alone, which `ask` sees to.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (
      url: string,
      { method, headers, body }: { method: string; headers: Record<string, string>; body?: unknown },
    ) =>
      ask(bounded, url, {
        method,
        headers,
        ...(body !== undefined && body !== null && { body: String(body) }),
      }),
  };
}

/** @throws ProviderUnavailableError or QueueFullError */
async function ask(fetch: ProviderFetch, url: string, request: Parameters<ProviderFetch>[1]) {
  const to = parseUrl(url);
  if (!to || !isSecureOrLocal(to)) throw new ProviderUnavailableError('one of its endpoints is not https');
  const response = await fetch(url, request).catch((error: unknown) => {
    if (isOurs(error)) throw error;
    throw new ProviderUnavailableError(`${to.host}: ${codeOf(error)}`);
  });
  if (response.status >= 500) throw new ProviderUnavailableError(`${to.host} responds ${response.status}`);
  return response;
}

type OurError = ProviderUnavailableError | SignInRefusedError | QueueFullError;

function isOurs(error: unknown): error is OurError {
  return [ProviderUnavailableError, SignInRefusedError, QueueFullError].some((one) => error instanceof one);
}

/** Codes of the library for what a person brings back, and for an ID token that is not for this sign-in. */
const REFUSALS = new Set([
  oauth.INVALID_RESPONSE,
  oauth.JSON_ATTRIBUTE_COMPARISON,
  oauth.JWT_CLAIM_COMPARISON,
  oauth.JWT_TIMESTAMP_CHECK,
  oauth.UNSUPPORTED_OPERATION,
]);

/** Whether an error is about a body without what it must have, or a text that is no signed JWT. */
function isMalformed({ code, cause }: { code?: unknown; cause?: unknown }): boolean {
  return (
    typeof cause === 'string' ||
    (isObject(cause) && ('body' in cause || 'header' in cause) && code !== oauth.JSON_ATTRIBUTE_COMPARISON)
  );
}

/** An error of the library as one of ours, with its code alone: its cause can have tokens in it. */
function asOurs(error: unknown): OurError {
  if (isOurs(error)) return error;
  // The code was used, has expired or is another's. Other errors, such as invalid_client, are about Hookline.
  if (error instanceof oauth.ResponseBodyError && error.error !== 'invalid_grant')
    return new ProviderUnavailableError(`its token endpoint responds ${error.status} (${word(error.error)})`);
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError)
    return new SignInRefusedError(word(error.error));
  const code = codeOf(error);
  if (REFUSALS.has(code) && !isMalformed(error as Error)) return new SignInRefusedError(code);
  // The library's own messages quote nothing that was received.
  const isOfLibrary =
    error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError;
  const why = isOfLibrary ? `${code}: ${error.message}` : code;
  return new ProviderUnavailableError(why);
}

/** A code that a provider sends, if it has the form of one. */
function word(code: string): string {
  return /^[\w.-]{1,64}$/.test(code) ? code : 'an error';
}

function codeOf(error: unknown): string {
  const { code, cause, name } = error as { code?: unknown; cause?: { code?: unknown }; name?: unknown };
  const found = [code, cause?.code, name].find((one) => typeof one === 'string');
  return word(String(found ?? 'an error'));
}
