import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { MAX_QUERY_PARAMETERS } from '../../../src/api/http/bounds/query.js';
import type { ApiClient } from '../../support/api-client.js';
import { costOf } from '../../support/parts/cost.js';
import { PROXIED, type SharedSystem, sharedSystem } from '../../support/system.js';

/** Cost that a request may have, by {@link costOf}: the largest here is a twentieth of that of the largest payload. */
const MAX_COST = 4;
/** Length of a head close to the 16 KiB that Node.js takes. */
const HEAD = 15_000;
/** Length of a form close to the 56 KiB that the OAuth library takes. */
const FORM = 55_000;
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const STREAM = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

const repeated = (part: string, length: number) => part.repeat(Math.floor(length / part.length));
/** Names that differ. */
const names = (length: number, separator: string) =>
  Array.from({ length: length / 4 }, (_, at) => at.toString(36).padStart(3, 'a')).join(separator);

/** Many pairs of a query or a form. */
const PAIRS: Record<string, (length: number) => string> = {
  'one short name': (length) => repeated('a&', length),
  'short names': (length) => names(length, '&'),
  'one name with values': (length) => repeated('access_token=1&', length),
  'empty pairs': (length) => repeated('&', length),
  'empty names': (length) => repeated('=&', length),
  'half escapes': (length) => repeated('%&', length),
  'escaped names': (length) => repeated('%41&', length),
  'parameters of OAuth': (length) => repeated('scope=a&client_id=b&', length),
};

/** Every path that is answered without a token, of each sort. */
const OPEN: readonly (readonly [method: string, path: string, headers?: OutgoingHttpHeaders])[] = [
  ['GET', '/v18.0/me'],
  ['POST', '/v18.0/events/purchase'],
  ['GET', '/v18.0/log/checkpoint'],
  ['GET', '/v18.0/log/tile/0/000'],
  ['GET', '/v18.0/endpoint_verifications/ep_01JD8F00000000000000000000'],
  ['GET', '/v18.0/nothing'],
  ['GET', '/v1.0/me'],
  ['OPTIONS', '/v18.0/me'],
  ['GET', '/v18.0/listeners/ep_01JD8F00000000000000000000/stream', STREAM],
  ['GET', '/log/checkpoint'],
  ['GET', '/log/tile/0/000'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['GET', '/oauth/authorize'],
  ['POST', '/oauth/authorize', FORM_TYPE],
  ['GET', '/oauth/authorize/x'],
  ['POST', '/oauth/token', FORM_TYPE],
  ['POST', '/oauth/revoke', FORM_TYPE],
  ['POST', '/oauth/introspect', FORM_TYPE],
  ['GET', '/oauth/interaction/x'],
  ['POST', '/oauth/interaction/x/login', FORM_TYPE],
  ['GET', '/'],
  ['GET', '/portal'],
  ['GET', '/desk/deliveries'],
  ['GET', '/web/assets/x.js'],
  ['GET', '/docs'],
  ['GET', '/openapi.json'],
  ['GET', '/errors/not_found'],
  ['GET', '/healthz'],
  ['GET', '/metrics'],
];

/** Headers that something in the way of a request reads. */
const HEADERS = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-type', 'content-encoding'],
  ...['cookie', 'traceparent', 'tracestate', 'if-none-match', 'if-match', 'if-modified-since', 'range'],
  ...['idempotency-key', 'hookline-account', 'webhook-allowed-rate', 'webhook-request-origin', 'origin'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded', 'host', 'cache-control'],
  ...['access-control-request-method', 'access-control-request-headers', 'sec-websocket-protocol'],
  ...['sec-websocket-extensions', 'sec-websocket-key', 'user-agent', 'referer'],
];
const VALUES: Record<string, string> = {
  spaces: `a${' '.repeat(HEAD)}b`,
  'spaces and commas': `${repeated(' ,', HEAD)}a`,
  commas: `${repeated(',', HEAD)}a`,
  'many of one': `${repeated('a,', HEAD)}a`,
  types: `${repeated('a/a,', HEAD)}a/b`,
  parameters: `a/b${repeated(';a=b', HEAD)}`,
  qualities: `${repeated('a;q=0.1,', HEAD)}a`,
  tags: `${repeated('W/"a",', HEAD)}"b"`,
  quotes: `a/b;c=${repeated('"', HEAD)}`,
  backslashes: `a/b;c="${repeated('\\', HEAD)}`,
  cookies: `${repeated('a=b; ', HEAD)}a=b`,
  addresses: `${repeated('1.1.1.1,', HEAD)}1.1.1.1`,
};
/** Paths whose handlers read most of them. */
const READERS = OPEN.filter(([, path]) => /\/(me|purchase|stream|token|portal)$/.test(path));

const SEGMENTS: Record<string, string> = {
  'short segments': repeated('a/', HEAD),
  'empty segments': repeated('/', HEAD),
  'dotted segments': repeated('../', HEAD),
  'escaped segments': repeated('%2f/', HEAD),
  'broken escapes': repeated('%', HEAD),
  'digits and signs': repeated('x000/', HEAD),
  'one long segment': repeated('a', HEAD),
  parameters: repeated(';a=b', HEAD),
};
const BELOW = [
  ...['', 'v18.0/', 'v18.0/events/', 'v18.0/subjects/', 'v18.0/deliveries/', 'v18.0/log/', 'v18.0/log/tile/'],
  ...['v18.0/log/tile/0/', 'v18.0/endpoint_verifications/', 'v18.0/listeners/', 'log/tile/', 'oauth/'],
  ...['oauth/interaction/', '.well-known/', 'portal/', 'desk/', 'web/assets/', 'errors/', 'docs/'],
];

describe('a hostile head or form', () => {
  let system: SharedSystem;
  let client: ApiClient;
  const agent = new Agent({ keepAlive: true });
  /** Requests that cost too much, or had a wrong response. */
  let faults: string[];

  before(async () => {
    system = await sharedSystem(PROXIED, 'api');
    client = await system.account();
    // The OAuth library is loaded with the first request for it.
    await fetch(`${system.url}/.well-known/oauth-authorization-server`);
  });
  after(() => agent.destroy());
  beforeEach(() => {
    faults = [];
  });

  const ask = async (method: string, path: string, headers: OutgoingHttpHeaders = {}, body?: string) => {
    const request = send(system.url, { method, path, agent, headers });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return {
      status: response.statusCode ?? 0,
      type: response.headers['content-type'],
      text: await text(response),
    };
  };

  const note = async (what: string, ...request: Parameters<typeof ask>) => {
    const { result, cost, measured } = await costOf(MAX_COST, () => ask(...request));
    if (cost > MAX_COST || result.status >= 500) faults.push(`${what}: ${result.status}, ${measured}`);
    return result;
  };

  it('of many short names in a query costs as little as any other, wherever it goes', async () => {
    for (const [method, path, headers] of OPEN)
      for (const [name, make] of Object.entries(PAIRS)) {
        const { status, text: body } = await note(
          `${name}, ${method} ${path}`,
          method,
          `${path}?${make(HEAD - path.length)}`,
          headers,
        );
        if (headers !== STREAM && (status !== 400 || !body.includes(`at most ${MAX_QUERY_PARAMETERS}`)))
          faults.push(`${name}, ${method} ${path}: ${status} ${body.slice(0, 100)}`);
      }
    assert.deepEqual(faults, []);
  });

  it('of a header that something reads costs as little as any other [world]', async () => {
    for (const [method, path, own] of READERS)
      for (const header of HEADERS)
        for (const [name, value] of Object.entries(VALUES)) {
          const authorization = path.startsWith('/v18.0') ? { authorization: `Bearer ${client.key}` } : {};
          const headers = { ...authorization, ...own, [header]: value };
          await note(`${header} of ${name}, ${method} ${path}`, method, path, headers);
        }
    assert.deepEqual(faults, []);
  });

  it('of many headers or cookies costs as little as any other [world]', async () => {
    const cookies = Array.from({ length: HEAD / 12 }, (_, at) => `hookline_${at}=1`).join('; ');
    const many = Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [`x-${at}`, '1']));
    for (const [method, path, own] of OPEN) {
      await note(`cookies, ${method} ${path}`, method, path, { ...own, cookie: cookies });
      await note(`headers, ${method} ${path}`, method, path, { ...own, ...many });
      await note(`one header often, ${method} ${path}`, method, path, {
        ...own,
        'x-forwarded-for': Array<string>(700).fill('1'),
      });
    }
    assert.deepEqual(faults, []);
  });

  it('of many segments of a path costs as little as any other [world]', async () => {
    const authorization = `Bearer ${client.key}`;
    for (const below of BELOW)
      for (const [name, segments] of Object.entries(SEGMENTS))
        for (const headers of [{}, { authorization }])
          await note(`${name} below /${below}`, 'GET', `/${below}${segments}`.slice(0, HEAD), headers);
    assert.deepEqual(faults, []);
  });

  it('of many short names in a form costs as little as any other [world]', async () => {
    for (const [method, path, headers] of OPEN.filter(([, , own]) => own === FORM_TYPE))
      for (const [name, make] of Object.entries(PAIRS))
        await note(`${name}, ${method} ${path}`, method, path, headers, make(FORM));
    assert.deepEqual(faults, []);
  });
});
