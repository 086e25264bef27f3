import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isEmailAddress } from '../../packages/payload-contract/src/index.js';
import { EVENT_KINDS } from '../../src/domain/event/event-kinds.js';
import { PROBLEMS } from '../../src/domain/http/problems.js';
import { matchSnapshot } from '../support/snapshot.js';
import { type SharedSystem, sharedSystem } from '../support/system.js';

/** The types of `clients/typescript`, made from the document that is checked in. */
const CLIENT_TYPES = 'clients/typescript/src/schema.ts';

interface Response {
  content?: Record<string, unknown>;
  headers: Record<string, unknown>;
}

interface Operation {
  operationId: string;
  tags: string[];
  security: unknown[];
  responses: Record<string, Response | { $ref: string }>;
}

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  pattern?: string;
  items?: unknown;
  properties?: object;
  additionalProperties?: unknown;
}

interface Document {
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { parameters: { name: string }[] } }>;
  components: { responses: Record<string, Response>; schemas: Record<string, { examples?: unknown[] }> };
}

describe('the OpenAPI document', () => {
  let system: SharedSystem;
  let document: Document;
  before(async () => {
    system = await sharedSystem();
    document = (await (await fetch(`${system.url}/openapi.json`)).json()) as Document;
  });

  const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

  it('is what is checked in', () => {
    matchSnapshot('docs/openapi.json', document);
  });

  it('has the types of the TypeScript client', async () => {
    const generator = 'clients/typescript/node_modules/openapi-typescript/bin/cli.js';
    const args = [generator, 'docs/openapi.json', '--default-non-nullable', 'false'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
    if (process.env['UPDATE_SNAPSHOTS']) writeFileSync(CLIENT_TYPES, stdout);
    const isSame = readFileSync(CLIENT_TYPES, 'utf8') === stdout;
    assert.ok(isSame, `${CLIENT_TYPES} is not what docs/openapi.json gives; run \`npm run snapshots\``);
  });

  it('names each operation once, with its security, its errors and their headers', () => {
    const ids = operations().map(({ operationId }) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    for (const { operationId, security, responses } of operations()) {
      const isPublic = operationId.startsWith('getLog') && !operationId.startsWith('getLogin');
      assert.ok(isPublic ? security.length === 0 : security.length >= 3, operationId);
      const failure = (status: string) => {
        const response = responses[status];
        const name = response && '$ref' in response ? response.$ref.split('/').at(-1) : undefined;
        return document.components.responses[name ?? ''];
      };
      const ofCallers = isPublic ? [] : ['401', '403', '406'];
      for (const status of ['400', ...ofCallers, '429', '500', '503']) {
        assert.ok(failure(status)?.content?.['application/problem+json'], `${operationId} ${status}`);
      }
      assert.ok(isPublic || failure('401')?.headers['WWW-Authenticate']);
      assert.ok(failure('429')?.headers['Retry-After']);
    }
  });

  it('has every problem that is not of a path or method that it does not have', () => {
    const text = JSON.stringify(document);
    const elsewhere = [
      'invalid_verification_token',
      // The sign-in to the desk has it, which is for its page alone.
      'identity_provider_unavailable',
      'sign_in_refused',
      'version_unknown',
      'version_withdrawn',
      'method_not_allowed',
      // Of what is refused before its path is looked at.
      'expectation_failed',
      'head_too_large',
      'malformed_request',
      'request_timeout',
    ];
    const absent = Object.keys(PROBLEMS).filter((code) => !text.includes(`\`${code}\``));
    assert.deepEqual(absent.sort(), elsewhere.sort());
  });

  it('has shared schemas for what several operations use, and valid examples', () => {
    const { schemas } = document.components;
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addFormat('idn-email', isEmailAddress);
    ajv.addSchema({ $id: 'document', components: { schemas } });
    let examples = 0;
    for (const [name, schema] of Object.entries(schemas)) {
      const validate = ajv.compile({ $ref: `document#/components/schemas/${name}` });
      for (const example of schema.examples ?? []) {
        examples += 1;
        assert.ok(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`);
      }
    }
    assert.ok(examples >= 9, String(examples));
    for (const name of [
      'Endpoint',
      'EndpointWithIncidentPage',
      'Delivery',
      'Profile',
      'Problem',
      'PurchasePayload',
    ])
      assert.ok(name in schemas, name);
    const used = new Set(JSON.stringify(document).match(/(?<=#\/components\/schemas\/)\w+/g));
    assert.deepEqual([...used].sort(), Object.keys(schemas).sort());
  });

  it('has a webhook for each kind, with the headers of Standard Webhooks', () => {
    assert.deepEqual(
      Object.keys(document.webhooks),
      EVENT_KINDS.map(({ name }) => name),
    );
    for (const { post } of Object.values(document.webhooks)) {
      const names = post.parameters.map(({ name }) => name);
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
        assert.ok(names.includes(name), name);
    }
  });

  it('describes every tag that it uses', () => {
    const used = new Set(operations().flatMap(({ tags }) => tags));
    assert.deepEqual([...used, 'webhooks'].sort(), document.tags.map(({ name }) => name).sort());
  });

  it('says the one type of each value, also of what a list or a map has: generators take no others', () => {
    const untyped: string[] = [];
    const look = (schema: Schema, path: string) => {
      const { type, enum: values, items, properties, additionalProperties } = schema;
      const alternatives = Array.isArray(type) && type.filter((name) => name !== 'null').length > 1;
      const isMapOfWhat = type === 'object' && !properties && additionalProperties === undefined;
      if (/\\p\{/.test(schema.pattern ?? '')) untyped.push(`${path}: no other language has this pattern`);
      if (alternatives || isMapOfWhat || (values && !type) || (type === 'array' && !items))
        untyped.push(path);
    };
    const walk = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null || /\/examples?$/.test(path)) return;
      if (!path.endsWith('/properties')) look(value as Schema, path);
      for (const [name, inner] of Object.entries(value)) walk(inner, `${path}/${name}`);
    };
    const { paths, components } = document;
    walk({ paths, components }, '');
    assert.deepEqual(untyped, []);
  });

  it('restricts statuses by enum only: generators drop errors with const', () => {
    assert.ok(!JSON.stringify(document.components).includes('"status":{"const"'));
  });
});
