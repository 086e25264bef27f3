import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { ApiClient } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const ASYNCAPI: object = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json');

const SHIPPED = {
  $id: 'https://example.com/shipped',
  type: 'object',
  properties: {
    to: { $ref: '#/$defs/address' },
    // A property with the name of a keyword.
    enum: { enum: ['air', 'sea'] },
    at: { type: 'string', format: 'utc-date-time' },
    parts: { type: 'array', prefixItems: [{ $ref: '#/$defs/any' }], items: true },
  },
  $defs: { address: { type: 'object', properties: { city: { type: 'string' } } }, any: true },
  examples: [{ to: { city: 'Rome' } }],
};

// biome-ignore lint/suspicious/noExplicitAny: a document of any shape
type Json = any;

describe('the catalogue of an account', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem();
    client = await system.account();
    for (const name of ['order.shipped', 'order_shipped'])
      await client.request('POST', '/v18.0/event_kinds', {
        body: { name, schema: SHIPPED, description: 'On its way.' },
      });
  });

  const read = async (name: string): Promise<Json> => {
    const { status, json } = await client.request('GET', `/v18.0/catalogue/${name}.json`);
    assert.equal(status, 200);
    return json;
  };
  /** Follows a reference within a document. */
  const at = (document: Json, reference: string): Json =>
    reference
      .slice(2)
      .split('/')
      .reduce<Json>((inside, name) => inside[name], document);
  const referencesIn = (document: object) => [
    ...new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, found = '']) => found)),
  ];

  it('is an OpenAPI document with a webhook for each kind, own ones with their definitions', async () => {
    const document = await read('openapi');
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert.ok(valid, JSON.stringify(errors));
    assert.deepEqual(Object.keys(document.webhooks).slice(0, 3), [
      'order.shipped',
      'order_shipped',
      'purchase',
    ]);
    const { operationId, requestBody } = document.webhooks['order_shipped'].post;
    assert.equal(operationId, 'receiveOrderShipped2');
    const { $ref } = requestBody.content['application/json'].schema;
    const { properties, $id, $defs } = at(document, $ref);
    assert.deepEqual([$id, $defs], [undefined, undefined]);
    assert.deepEqual(properties.at, { type: 'string', format: 'date-time', pattern: 'Z$' });
    assert.deepEqual(properties.enum, SHIPPED.properties.enum);
    assert.deepEqual(at(document, properties.to.$ref), SHIPPED.$defs.address);
    assert.deepEqual(at(document, properties.parts.prefixItems[0].$ref), {});
  });

  it('is an AsyncAPI document with a message for each kind', async () => {
    const document = await read('asyncapi');
    const ajv = new Ajv({
      strict: false,
      allErrors: true,
      meta: false,
      validateSchema: false,
      unicodeRegExp: false,
    });
    addFormats.default(ajv);
    const validate = ajv.compile(ASYNCAPI);
    const isValid = (one: object): boolean => validate(one);
    assert.ok(isValid(document), ajv.errorsText(validate.errors));
    assert.ok(!isValid({ ...document, channels: [] }));
    const { messages } = document.channels.webhooks;
    const message = at(document, messages.OrderShipped2.$ref);
    assert.deepEqual(
      [message.name, message.examples[0].payload],
      ['order_shipped', { to: { city: 'Rome' } }],
    );
    assert.deepEqual(document.operations.receivePurchase.messages, [
      { $ref: '#/channels/webhooks/messages/Purchase' },
    ]);
  });

  for (const name of ['openapi', 'asyncapi'])
    it(`as ${name} has what it refers to, and changes its version with each schema`, async () => {
      const document = await read(name);
      for (const reference of referencesIn(document))
        assert.notEqual(at(document, reference), undefined, reference);
      const other = await (await system.account()).request('GET', `/v18.0/catalogue/${name}.json`);
      assert.equal(Number(document.info.version) - Number(other.json.info.version), 2);
      assert.ok(!JSON.stringify(other.json).includes('hipped'));
    });
});
