import assert from 'node:assert/strict';
import { PROFILE_FIELDS } from '../../../src/domain/access/profile.js';
import type { ApiClient } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const ADA = {
  username: 'ada',
  name: 'Ada Lovelace',
  followers_count: 1815,
  website: 'https://example.com/ada',
};

describe('the query interface', () => {
  let system: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });

  describe('GET /v18.0/me', () => {
    it('answers the default fields of the account’s own profile', async () => {
      const { status, json } = await client.request('GET', '/v18.0/me');
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(json), ['id', 'username', 'name']);
      assert.equal(json.id, client.accountId.replace('acct_', 'prof_'));
    });

    it('answers the named fields in the order in which they were named', async () => {
      const { text } = await client.request('GET', '/v18.0/me?fields=followers_count,id');
      assert.match(text, /^\{"followers_count":0,"id":"prof_\w{26}"\}$/);
    });

    it('takes the token as a query parameter, and refuses it both ways at once', async () => {
      const path = `/v18.0/me?fields=id&access_token=${client.key}`;
      assert.equal((await fetch(client.url + path)).status, 200);
      const both = await client.request('GET', path);
      assert.equal(both.status, 400);
      assert.equal(both.json.code, 'ambiguous_token');
      assert.match(both.headers.get('www-authenticate') ?? '', /error="invalid_request"/);
    });

    for (const [what, fields] of [
      ['unknown', 'id,shoe_size'],
      ['empty', ''],
      ['repeated', 'id,name,id'],
      ['malformed', 'id,,name'],
      ['spaced', 'id, name'],
      ['inherited', 'constructor'],
    ] as const) {
      it(`refuses ${what} fields, listing the known ones`, async () => {
        const path = `/v18.0/me?fields=${encodeURIComponent(fields)}`;
        const { status, json } = await client.request('GET', path);
        assert.equal(status, 400);
        assert.equal(json.code, 'invalid_fields');
        assert.deepEqual(
          json.errors.map(({ parameter }: { parameter: string }) => parameter),
          ['fields'],
        );
        assert.ok(json.detail.includes(PROFILE_FIELDS.join(', ')), json.detail);
      });
    }

    it('takes repeated parameters for one list', async () => {
      const { text } = await client.request('GET', '/v18.0/me?fields=followers_count&fields=id,name');
      assert.match(text, /^\{"followers_count":0,"id":"[^"]+","name":"[^"]*"\}$/);
      const twice = await client.request('GET', '/v18.0/me?fields=id&fields=id');
      assert.equal(twice.json.code, 'invalid_fields');
    });

    it('answers 304 until the profile changes', async () => {
      const { json: created } = await client.request('POST', '/v18.0/profiles', { body: ADA });
      const { json: key } = await client.request('POST', '/v18.0/api_keys', {
        body: { name: 'ada', scopes: ['profile:read'], profile_id: created.id },
      });
      const headers = { authorization: `Bearer ${key.key}` };
      const first = await client.request('GET', '/v18.0/me?fields=id,followers_count', { headers });
      assert.deepEqual(first.json, { id: created.id, followers_count: 1815 });
      const again = { ...headers, 'if-none-match': first.headers.get('etag') ?? '' };
      const same = await client.request('GET', '/v18.0/me?fields=id,followers_count', { headers: again });
      assert.equal(same.status, 304);
      assert.equal(same.text, '');
      const body = { ...ADA, followers_count: 1816 };
      await client.request('PUT', `/v18.0/profiles/${created.id}`, { body });
      const changed = await client.request('GET', '/v18.0/me?fields=followers_count', { headers: again });
      assert.deepEqual(changed.json, { followers_count: 1816 });
    });
  });

  describe('profiles', () => {
    it('are created, read, replaced and deleted', async () => {
      const created = await client.request('POST', '/v18.0/profiles', { body: ADA });
      assert.equal(created.status, 201);
      const path = `/v18.0/profiles/${created.json.id}`;
      assert.equal(created.headers.get('location'), path);
      assert.deepEqual((await client.request('GET', path)).json, created.json);
      const replaced = await client.request('PUT', path, { body: { username: 'ada', name: 'A. L.' } });
      assert.equal(replaced.json.name, 'A. L.');
      assert.equal(replaced.json.followers_count, 0);
      assert.equal((await client.request('DELETE', path)).status, 204);
      assert.equal((await client.request('GET', path)).status, 404);
    });

    it('page through the list', async () => {
      const other = await system.account();
      for (const username of ['a', 'b'])
        await other.request('POST', '/v18.0/profiles', { body: { ...ADA, username } });
      const first = await other.request('GET', '/v18.0/profiles?limit=2');
      assert.equal(first.json.data.length, 2);
      const rest = await other.request('GET', first.json.paging.next);
      assert.deepEqual(
        rest.json.data.map(({ username }: { username: string }) => username),
        ['b'],
      );
      assert.equal(rest.json.paging.next, undefined);
    });

    it('refuse a change of a version that has been replaced meanwhile', async () => {
      const created = await client.request('POST', '/v18.0/profiles', { body: ADA });
      const path = `/v18.0/profiles/${created.json.id}`;
      const headers = { 'if-match': created.headers.get('etag') ?? '' };
      assert.equal((await client.request('PUT', path, { body: ADA, headers })).status, 200);
      for (const method of ['PUT', 'DELETE']) {
        const body = method === 'PUT' ? { body: ADA } : {};
        const late = await client.request(method, path, { ...body, headers });
        assert.equal(late.status, 412);
        assert.equal(late.json.code, 'precondition_failed');
      }
      assert.equal((await client.request('DELETE', path, { headers: { 'if-match': '*' } })).status, 204);
    });

    it('accept one of several changes at the same moment', async () => {
      const created = await client.request('POST', '/v18.0/profiles', { body: ADA });
      const path = `/v18.0/profiles/${created.json.id}`;
      const headers = { 'if-match': created.headers.get('etag') ?? '' };
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => client.request('PUT', path, { body: ADA, headers })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(412)]);
    });

    it('keep the account’s own', async () => {
      const own = `/v18.0/profiles/${client.accountId.replace('acct_', 'prof_')}`;
      const { status, json } = await client.request('DELETE', own);
      assert.equal(status, 409);
      assert.equal(json.code, 'profile_in_use');
    });
  });

  it('answers 406 to a caller who takes no JSON', async () => {
    const { status, json } = await client.request('GET', '/v18.0/me', { headers: { accept: 'text/csv' } });
    assert.equal(status, 406);
    assert.equal(json.code, 'not_acceptable');
  });

  it('answers 405 with what is allowed', async () => {
    const { status, json, headers } = await client.request('PATCH', '/v18.0/me');
    assert.equal(status, 405);
    assert.equal(json.code, 'method_not_allowed');
    assert.equal(headers.get('allow'), 'HEAD, GET');
  });
});
