import { deepEqual, equal, match, ok, throws } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { convoy } from '../../../src/bin/client/import/convoy.js';
import type { ForeignEndpoint, Format, LeftOut } from '../../../src/bin/client/import/found.js';
import { outpost } from '../../../src/bin/client/import/outpost.js';
import { svix } from '../../../src/bin/client/import/svix.js';

const listOf = (name: string): unknown =>
  JSON.parse(readFileSync(`test/support/outside/lists/${name}.json`, 'utf8'));

/** Endpoints that are found in the list of a service, and notes on what is left out of it. */
function read(format: Format, ...documents: unknown[]) {
  const all = format.read(documents);
  return {
    found: all.filter((one): one is ForeignEndpoint => 'body' in one),
    leftOut: all.filter((one): one is LeftOut => 'why' in one),
  };
}

describe('lists of endpoints that other services give', () => {
  it('of Svix keep the secret, and the names of the headers of the signature', () => {
    const { found, leftOut } = read(svix, listOf('svix'));
    const [first, second] = found;
    deepEqual(leftOut, []);
    deepEqual(first?.body, {
      target_url: 'https://example.com/webhook/',
      event_kinds: ['user.signup', 'user.deleted'],
      description: 'An example endpoint name',
      metadata: { team: 'billing', svix_uid: 'unique-ep-identifier' },
      headers: { 'X-Example': '123' },
      legacy_header_prefix: 'svix-',
      rate_limit: 20,
      secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    });
    match(first.notes.join(), /hides the values of these headers.*: Authorization/);
    deepEqual(second?.body.event_kinds, ['*']);
    equal(second.body.status, 'paused');
    match(second.body.status_reason ?? '', /disabled in Svix/);
    match(second.notes.join('\n'), /no secret of it[\s\S]*channels project_123/);
  });

  it('of older servers of Svix keep the event types and the rate limit, which have other names there', () => {
    const { found } = read(svix, [
      { id: 'ep_1', url: 'https://example.com/', filterTypes: ['user.signup'], rateLimit: 5 },
    ]);
    deepEqual(found[0]?.body.event_kinds, ['user.signup']);
    equal(found[0]?.body.rate_limit, 5);
  });

  it('of Convoy take what an endpoint gets from its subscriptions, and its newest secret', () => {
    const { found, leftOut } = read(convoy, listOf('convoy'));
    const [first, second] = found;
    deepEqual(first?.body, {
      target_url: 'https://example.com/convoy/',
      event_kinds: ['user.signup'],
      description: 'endpoint-1',
      metadata: { convoy_owner_id: 'customer-42' },
      headers: { 'x-api-key': 'abc' },
      rate_limit: 5,
      secret: `whsec_${Buffer.from('8LE9L2j1eOqgoJPjH7kR3mTsYcVn4aWx').toString('base64')}`,
    });
    match(first.notes.join(), /the same key/);
    equal(second?.body.headers?.['authorization'], `Basic ${Buffer.from('ada:pass').toString('base64')}`);
    deepEqual([second.body.status, second.body.secret], ['paused', undefined]);
    match(second.notes.join('\n'), /not 24 to 64 bytes long[\s\S]*filter of its subscription/);
    deepEqual(
      leftOut.map(({ id }) => id),
      ['01H0JB0000XZK8FRDX1M1JN3QY'],
    );
    match(leftOut[0]?.why ?? '', /export the subscriptions/);
  });

  it('of Outpost take webhooks alone', () => {
    const { found, leftOut } = read(outpost, listOf('outpost'));
    const [first, second, third] = found;
    deepEqual(first?.body, {
      target_url: 'https://my-service.com/webhook/handler',
      event_kinds: ['user.created', 'order.*'],
      metadata: { team: 'platform' },
      headers: { 'x-tenant-id': 'customer-456' },
      status: 'paused',
      status_reason: 'Its filter in Outpost is not taken over: give it a filter, then resume it.',
      secret: 'whsec_dGVzdHNlY3JldDEyMzQ1Njc4OTBhYmNkZWY=',
    });
    match(first.notes.join('\n'), /previous secret[\s\S]*filter[\s\S]*delivery_metadata region/);
    deepEqual([second?.body.event_kinds, second?.body.status], [['*'], 'paused']);
    ok(second?.body.secret?.startsWith('whsec_3b2a'));
    // As a server of Outpost (August 2026) gave it.
    deepEqual(third?.body, {
      target_url: 'https://my-service.com/standard',
      event_kinds: ['user.created'],
      metadata: {},
      headers: { 'x-team': 'blue' },
      secret: 'whsec_576+wfSITmacOTUrnuvciUHKMhenre82Qz0X6mJceVQ=',
    });
    match(leftOut[0]?.why ?? '', /aws_sqs/);
  });

  it('may come in several pages, one after another or in one file', () => {
    const page = listOf('svix') as { data: unknown[] };
    for (const documents of [[page, page], [[page, page]], [page.data, page.data]])
      equal(read(svix, ...documents).found.length, 4);
    const [endpoints, subscriptions] = listOf('convoy') as unknown[];
    equal(read(convoy, endpoints, subscriptions).found.length, 2);
  });

  it('are refused in a form that the service does not have', () => {
    for (const format of [svix, convoy, outpost])
      for (const document of [{}, { data: [{ id: 1 }] }, 'text', [null], { error: 'unauthorized' }])
        throws(() => format.read([document]), { name: 'ZodError' });
  });
});
