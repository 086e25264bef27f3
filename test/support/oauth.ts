import assert from 'node:assert/strict';
import type { ApiClient } from './api-client.js';

/** A person who can log in, and the password. */
export interface Person {
  profileId: string;
  loginName: string;
  password: string;
}

/** Makes a profile that can log in. */
export async function newPerson(client: ApiClient, scopes = ['profile:read']): Promise<Person> {
  const profile = await client.request('POST', '/v18.0/profiles', {
    body: { username: 'ada', name: 'Ada Lovelace', followers_count: 1815 },
  });
  const loginName = 'Ada@example.com';
  const password = 'difference engine no. 2';
  const login = await client.request('PUT', `/v18.0/profiles/${profile.json.id}/login`, {
    body: { login_name: loginName, password, scopes },
  });
  assert.equal(login.status, 200, login.text);
  return { profileId: profile.json.id, loginName, password };
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
