import assert from 'node:assert/strict';

/** Headers of an answer that a script may always read (the Fetch standard, "CORS-safelisted response-header name"). */
const READABLE = ['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'pragma'];
/** Content types that need no preflight. */
const SIMPLE_TYPES = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
const SIMPLE_METHODS = ['GET', 'HEAD', 'POST'];

/** Input of a script. */
interface Readable {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/**
 * `fetch` as a browser does it for a script of a page on another origin, without cookies: a preflight where one is due,
 * checked as the Fetch standard says, then the call; of the answer, the headers that the script may read.
 */
export async function fetchFromPage(origin: string, url: string, init: RequestInit = {}): Promise<Readable> {
  const method = init.method ?? 'GET';
  const headers = new Headers(init.headers);
  const unsafe = [...headers]
    .filter(([name, value]) => !isSafelisted(name, value))
    .map(([name]) => name)
    .sort();
  if (unsafe.length > 0 || !SIMPLE_METHODS.includes(method)) {
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        ...(unsafe.length > 0 && { 'access-control-request-headers': unsafe.join(',') }),
      },
    });
    assert.ok(preflight.ok, `preflight of ${method} ${url}: ${preflight.status} ${await preflight.text()}`);
    assertShared(preflight, origin);
    const methods = list(preflight, 'access-control-allow-methods');
    assert.ok(SIMPLE_METHODS.includes(method) || methods.includes(method.toLowerCase()), `${method} refused`);
    const allowed = list(preflight, 'access-control-allow-headers');
    for (const name of unsafe) {
      const byWildcard = allowed.includes('*') && name !== 'authorization';
      assert.ok(byWildcard || allowed.includes(name), `${name} refused: ${allowed.join(', ')}`);
    }
  }
  headers.set('origin', origin);
  const response = await fetch(url, { ...init, headers });
  assertShared(response, origin);
  const exposed = [...READABLE, ...list(response, 'access-control-expose-headers')];
  return {
    status: response.status,
    headers: Object.fromEntries([...response.headers].filter(([name]) => exposed.includes(name))),
    text: await response.text(),
  };
}

function isSafelisted(name: string, value: string): boolean {
  if (name === 'content-type') return SIMPLE_TYPES.includes(value.split(';')[0] ?? '');
  return ['accept', 'accept-language', 'content-language'].includes(name);
}

function assertShared(response: Response, origin: string): void {
  const allowed = response.headers.get('access-control-allow-origin');
  assert.ok(allowed === '*' || allowed === origin, `${response.url} is not open to ${origin}: ${allowed}`);
}

function list(response: Response, name: string): string[] {
  return (response.headers.get(name) ?? '')
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
}
