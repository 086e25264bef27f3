import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import type { Scope } from '../../src/domain/access/api-key.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import type { Database } from '../../src/models/database.js';
import type { ApiClient } from './api-client.js';

/** A person who can log in, and the password. */
export interface Person {
  profileId: string;
  loginName: string;
  password: string;
}

const PASSWORD = 'difference engine no. 2';

/**
 * A hash has its cost with it. Those that the service makes take a fifth of a second, and each login as long again;
 * this one takes none.
 */
function cheapHash(password: string): string {
  const hash = scryptSync(password, '', 32, { N: 2, r: 1, p: 1 });
  return ['scrypt', 2, 1, 1, '', hash.toString('base64')].join('$');
}

/** Makes a profile that can log in, as if a login had been put. */
export async function newPerson(
  { database }: { database: Database },
  client: ApiClient,
  scopes: readonly string[] = ['profile:read'],
): Promise<Person> {
  const profile = await client.request('POST', '/v18.0/profiles', {
    body: { username: 'ada', name: 'Ada Lovelace', followers_count: 1815 },
  });
  const login = {
    account_id: client.accountId,
    profile_id: profile.json.id,
    login_name: 'Ada@example.com',
    scopes: scopes as Scope[],
  };
  assert.ok(await database.logins.put(login, cheapHash(PASSWORD), OPERATOR));
  return { profileId: login.profile_id, loginName: login.login_name, password: PASSWORD };
}

/** A browser as far as a login needs one: it keeps cookies and fills forms in. */
export class Browser {
  private readonly cookies = new Map<string, string>();
  private readonly headers: Record<string, string>;

  /** @param headers sent with every request, such as those of a proxy */
  constructor(headers: Record<string, string> = {}) {
    this.headers = headers;
  }

  /** Follows redirects within the origin; gives the last page, or the address outside that it was sent to. */
  async go(
    address: string,
    form?: Record<string, string>,
  ): Promise<{ status: number; text: string; headers: Headers; left?: URL }> {
    const { origin } = new URL(address);
    let response = await this.send(address, form);
    while (response.headers.has('location')) {
      const next = new URL(response.headers.get('location') ?? '', response.url);
      if (next.origin !== origin)
        return { status: response.status, text: '', headers: response.headers, left: next };
      response = await this.send(next.href);
    }
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  private async send(address: string, form?: Record<string, string>): Promise<Response> {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: {
        ...this.headers,
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '' || /expires=thu, 01 jan 1970/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }
}

/** The address that the first form of a page is sent to. */
export function formAction(page: string, base: string): string {
  const action = /<form[^>]* method="post" action="([^"]+)"/.exec(page)?.[1];
  assert.ok(action, page);
  return new URL(action, base).href;
}

/** Logs a person in and allows what is asked. @returns the redirect to the client */
export async function logInAndAllow(
  browser: Browser,
  authorizationUrl: string,
  person: Person,
): Promise<URL> {
  const login = await browser.go(authorizationUrl);
  assert.match(login.text, /<h1>Log in<\/h1>/, login.text);
  const consent = await browser.go(formAction(login.text, authorizationUrl), {
    login_name: person.loginName,
    password: person.password,
  });
  assert.match(consent.text, /<h1>Allow /, consent.text);
  const { left } = await browser.go(formAction(consent.text, authorizationUrl), {});
  assert.ok(left, 'no redirect to the client');
  return left;
}
