import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ApiClient } from '../api-client.js';
import { Browser, logInAndAllow, type Person } from '../oauth.js';

/** Where the application waits for the person; nothing listens there. */
export const REDIRECT_URI = 'https://application.example/callback';
const VERIFIER = 'a-verifier-of-at-least-forty-three-characters';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

/** Response of the token endpoint. */
export interface TokenAnswer {
  status: number;
  headers: Headers;
  access_token?: string;
  refresh_token?: string;
  scope?: string;
  error?: string;
}

/** An OAuth client with code and refresh tokens, as a test uses one. Public, unless its registration says otherwise. */
export class OAuthApplication {
  readonly id: string;
  private readonly secret: string | undefined;
  private readonly url: string;

  private constructor(url: string, id: string, secret: string | undefined) {
    this.url = url;
    this.id = id;
    this.secret = secret;
  }

  static async register(account: ApiClient, more: Record<string, unknown> = {}): Promise<OAuthApplication> {
    const { status, json, text } = await account.request('POST', '/v18.0/oauth_clients', {
      body: {
        name: 'test',
        scopes: ['profile:read', 'deliveries:read'],
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [REDIRECT_URI],
        token_endpoint_auth_method: 'none',
        ...more,
      },
    });
    assert.equal(status, 201, text);
    return new OAuthApplication(account.url, json.id, json.secret);
  }

  /** Where the application sends the person. */
  authorizationUrl(more: Record<string, string> = {}): string {
    const parameters = new URLSearchParams({
      client_id: this.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'profile:read deliveries:read',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...more,
    });
    return `${this.url}/oauth/authorize?${parameters}`;
  }

  /** Tokens after the person has logged in and allowed what is asked. */
  async tokens(person: Person, browser = new Browser()): Promise<TokenAnswer> {
    return this.exchange(await logInAndAllow(browser, this.authorizationUrl(), person));
  }

  /** Exchanges the code with which the person was sent back. */
  exchange(redirect: URL | undefined, redirect_uri = REDIRECT_URI): Promise<TokenAnswer> {
    const code = redirect?.searchParams.get('code') ?? '';
    return this.ask({ grant_type: 'authorization_code', redirect_uri, code, code_verifier: VERIFIER });
  }

  refresh(refresh_token = ''): Promise<TokenAnswer> {
    return this.ask({ grant_type: 'refresh_token', refresh_token });
  }

  async introspect(token = ''): Promise<Record<string, unknown>> {
    const response = await this.send('/oauth/introspect', { token });
    return (await response.json()) as Record<string, unknown>;
  }

  private async ask(fields: Record<string, string>): Promise<TokenAnswer> {
    const response = await this.send('/oauth/token', fields);
    const { status, headers } = response;
    return { ...((await response.json()) as Omit<TokenAnswer, 'status' | 'headers'>), status, headers };
  }

  private send(path: string, fields: Record<string, string>): Promise<Response> {
    const credentials = { client_id: this.id, ...(this.secret && { client_secret: this.secret }) };
    const body = new URLSearchParams({ ...credentials, ...fields });
    return fetch(`${this.url}${path}`, { method: 'POST', body });
  }
}

/** Response of the API to a token: the status, and the code of an error. */
export async function useToken(
  url: string,
  token = '',
  path = '/me',
): Promise<{ status: number; code?: string; id?: string }> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/v18.0${path}`, { headers });
  const { code, id } = (await response.json()) as { code?: string; id?: string };
  return { status: response.status, ...(code && { code }), ...(id && { id }) };
}
