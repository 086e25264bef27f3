import assert from 'node:assert/strict';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import type { ApiClient } from '../../support/api-client.js';
import { costOf } from '../../support/parts/cost.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

interface Schema {
  $ref?: string;
  type?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
}
interface Operation {
  operationId: string;
  parameters: { name: string; in: string; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Cost to the event loop that a request may have, the client’s part in it included, by {@link costOf}. */
const MAX_COST = 10;
/** Characters of an answer that refuses. Twenty errors that each list what is known are far below it. */
const MAX_ANSWER = 16 * 1024;
/** The largest body of a request other than an event, bytes, less what stands around a part of it. */
const MAX_BYTES = 64 * 1024 - 200;
/** Keywords below which whole languages are sent: filters and schemas. */
const KEYWORDS = ['all', 'not', 'allOf', 'enum', 'properties'];

const times = (text: string, bytes: number, separator = ',') =>
  Array(Math.floor(bytes / (text.length + separator.length)))
    .fill(text)
    .join(separator);
const wide = (bytes: number) =>
  `{${Array.from({ length: Math.floor(bytes / 11) }, (_, index) => `"${index.toString(36).padStart(6, 'n')}":1`)}}`;

/** JSON texts of the given size that are dear to walk through, to compare or to complain about. */
const HOSTILE: Record<string, (bytes: number) => string> = {
  'a list of objects': (bytes) => `[${times('{}', bytes)}]`,
  'a list of conditions': (bytes) => `[${times('{"path":1}', bytes)}]`,
  'a wide object': wide,
  'nested objects': (bytes) => `${times('{"not":', bytes - bytes / 8, '')}1${times('}', bytes / 8, '')}`,
  'a long name': (bytes) => `{"${'n'.repeat(bytes)}":1}`,
};
/** Those that are sent where they come to the same in every operation: to the parser. */
const BROKEN: Record<string, (bytes: number) => string> = {
  'a list of numbers': (bytes) => `[${times('0', bytes)}]`,
  'nested lists': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'a long text': (bytes) => `"${'/'.repeat(bytes)}"`,
  'open lists': (bytes) => '['.repeat(bytes),
  commas: (bytes) => times('', bytes),
  'unknown words': (bytes) => times('a', bytes, ' '),
  lines: (bytes) => `{${'\n'.repeat(bytes)}`,
};

describe('hostile input at the limit of size [world]', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let document: Document;
  const ids: Record<string, string> = { event_kinds: 'hostile.kind', events: 'purchase' };
  /** Requests that cost too much, or had a wrong response. */
  let faults: string[];
  let requests: number;

  before(async () => {
    system = await sharedSystem({}, 'api');
    client = await system.account(OPERATOR_SCOPES);
    document = (await (await fetch(`${system.url}/openapi.json`)).json()) as Document;
    const make = async (path: string, body: unknown) =>
      (await client.request('POST', `/v18.0${path}`, { body })).json;
    ids['endpoints'] = (
      await make('/endpoints', { target_url: 'https://127.0.0.1/', event_kinds: ['*'] })
    ).id;
    await make('/event_kinds', { name: ids['event_kinds'], schema: {} });
  });
  beforeEach(() => {
    faults = [];
    requests = 0;
  });

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        path: path.replace(/(\w+)\/\{\w+\}/g, (_, resource: string) => `${resource}/${ids[resource] ?? 'x'}`),
        method: method.toUpperCase(),
        operation,
      })),
    );

  const resolved = (schema: Schema): Schema =>
    document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const isAnything = (schema: boolean | Schema = true) => schema === true || Object.keys(schema).length === 0;

  /** Sends a request that is to be refused, and notes what is wrong with its cost and its answer. */
  const send = async (what: string, method: string, path: string, raw?: string) => {
    const { result, cost, measured } = await costOf(MAX_COST, () =>
      client.request(method, path, raw === undefined ? {} : { raw }),
    );
    const { status, text, json } = result;
    requests += 1;
    const refused = status >= 400;
    const isWrong = status >= 500 || (refused && (text.length > MAX_ANSWER || json.errors?.length > 20));
    if (cost > MAX_COST || isWrong)
      faults.push(`${what}: ${status}, ${measured}, ${text.length} characters ${text.slice(0, 100)}`);
  };

  it('is refused in a body of any operation, as cheaply as any other', async () => {
    for (const { path, method, operation } of operations()) {
      const { operationId, requestBody } = operation;
      const [media] = Object.values(requestBody?.content ?? {});
      if (!media) continue;
      const bytes = operationId === 'acceptEvent' ? MAX_PAYLOAD_BYTES - 200 : MAX_BYTES;
      const { properties = {} } = resolved(media.schema);
      // One parser reads the bodies of all operations but those of events.
      const broken = ['acceptEvent', 'createEndpoint'].includes(operationId) ? BROKEN : {};
      const bodies = Object.entries({ ...HOSTILE, ...broken }).map(([name, make]) => [name, make(bytes)]);
      for (const [property, schema] of Object.entries(properties)) {
        const { type, properties: inner, additionalProperties } = resolved(schema);
        if (type !== undefined && type !== 'array' && type !== 'object') continue;
        const isFree = type === undefined || (type === 'object' && isAnything(additionalProperties));
        const within = inner ? Object.keys(inner) : isFree ? KEYWORDS : [];
        for (const [name, make] of Object.entries(HOSTILE)) {
          bodies.push([`${name} as ${property}`, `{"${property}":${make(bytes)}}`]);
          for (const key of within)
            bodies.push([`${name} as ${property}.${key}`, `{"${property}":{"${key}":${make(bytes)}}}`]);
        }
      }
      for (const [name, body] of bodies) await send(`${operationId}, ${name}`, method, path, body);
    }
    assert.deepEqual(faults, []);
    assert.ok(requests > 300, String(requests));
  });

  it('is refused in a query of any operation, as cheaply as any other', async () => {
    const names = times('unknown', 6_000, '=1&').replaceAll('unknown', () =>
      Math.random().toString(36).slice(2, 5),
    );
    for (const { path, method, operation } of operations()) {
      const { operationId, parameters } = operation;
      await send(`${operationId}, one short name`, method, `${path}?${times('a', 15_000, '&')}`);
      await send(`${operationId}, unknown names`, method, `${path}?${names}&${'n'.repeat(6_000)}=1`);
      if (method !== 'GET') continue;
      for (const { name } of parameters.filter((parameter) => parameter.in === 'query')) {
        await send(`${operationId}, ${name} repeated`, method, `${path}?${times(`${name}=,`, 6_000, '&')}`);
        await send(`${operationId}, a long ${name}`, method, `${path}?${name}=${times('ab', 6_000)}`);
      }
    }
    assert.deepEqual(faults, []);
    assert.ok(requests > 200, String(requests));
  });

  it('is refused as a time that no id or text can hold', async () => {
    let parameters = 0;
    for (const { path, method, operation } of operations()) {
      for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === 'query')) {
        if (schema?.type !== 'string' || !/^(from|to|as_of|\w+_(after|before))$/.test(name)) continue;
        parameters += 1;
        for (const time of [
          '1969-12-31T23:59:59.999Z',
          '0000-01-01T00:00:00Z',
          '1970-01-01T00:00:00%2B01:00',
          '9999-12-31T23:59:59-01:00',
        ]) {
          const { status, json } = await client.request(method, `${path}?${name}=${time}`);
          // Beside those that the operation cannot do without.
          const wrong = (json.errors ?? []).filter(
            ({ detail }: { detail: string }) => detail !== 'is missing',
          );
          assert.deepEqual([status, wrong[0]?.parameter], [400, name], `${path}?${name}=${time}`);
        }
      }
    }
    assert.ok(parameters >= 10, String(parameters));
    const whole = await client.request('GET', '/v18.0/exports?from=1970-01-01');
    assert.deepEqual([whole.status, whole.text], [200, '']);
  });
});
