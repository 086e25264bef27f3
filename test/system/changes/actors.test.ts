import assert from 'node:assert/strict';
import { OPERATOR_SCOPES } from '../../../src/domain/access/api-key.js';
import type { Change } from '../../../src/domain/change/change.js';
import { type ApiClient, apiClient } from '../../support/api-client.js';
import { Browser, logInAndAllow, newPerson } from '../../support/oauth.js';
import { OAuthApplication } from '../../support/outside/oauth-application.js';
import { ADDRESS, FORWARDED, newestChange, send } from '../../support/parts/changes.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import {
  IMPATIENT,
  PROXIED,
  type SharedSystem,
  sharedSystem,
  UNTIL_DISABLED,
  VERIFYING,
} from '../../support/system.js';
import { until } from '../../support/until.js';

describe('who made a change', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem(PROXIED);
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    client = await system.account(OPERATOR_SCOPES);
  });
  after(() => receiver.close());

  it('is the operator or the key that made an account, with its first key', async () => {
    const account = (await send(client, 'POST', '/accounts', { name: 'tenant' })).json;
    const rows = await system.database.changes.list(account.id, {}, 10);
    assert.deepEqual(
      rows.map(({ resource, action, actor }) => [resource, action, actor.id]),
      [
        [`api_key:${account.api_key.id}`, 'created', client.keyId],
        [`account:${account.id}`, 'created', client.keyId],
        [`profile:${account.id.replace('acct', 'prof')}`, 'created', client.keyId],
      ],
    );
    // What the operator calls its key is the operator's business.
    const shown = await newestChange(
      apiClient(client.url, { accountId: account.id, key: account.api_key.key, keyId: account.api_key.id }),
      `account:${account.id}`,
    );
    assert.deepEqual(shown.actor, { type: 'api_key', id: client.keyId, account_id: client.accountId });
    const own = await newestChange(client, `account:${client.accountId}`);
    assert.deepEqual(own.actor, { type: 'operator', id: 'operator' });
  });

  it('is a part of the system, or the subscriber who answers 410', async () => {
    receiver.handle(reply(410));
    const { id } = await client.register(receiver.url);
    await client.purchase();
    const gone = await until(
      () => newestChange(client, `endpoint:${id}`),
      ({ action }) => action === 'disabled',
    );
    assert.deepEqual(gone.actor, { type: 'subscriber', id: 'subscriber' });
    assert.equal(gone.after?.['status_reason'], 'It responded with 410 Gone.');

    receiver.handle(reply(200));
    const rotated = await client.register(receiver.url);
    await send(client, 'POST', `/endpoints/${rotated.id}/secret/rotate`, { overlap: '1s' });
    const retired = await until(
      () => newestChange(client, `endpoint:${rotated.id}`),
      ({ action }) => action === 'secret_retired',
    );
    assert.deepEqual(retired.actor, { type: 'system', id: 'rotation' });
  });

  it('is an OAuth client, with the person for whom it acts', async () => {
    const person = await newPerson(system, client, ['endpoints:write']);
    const application = await OAuthApplication.register(client, { scopes: ['endpoints:write'] });
    const browser = new Browser();
    const url = application.authorizationUrl({ scope: 'endpoints:write' });
    const tokens = await application.exchange(await logInAndAllow(browser, url, person));
    const { id } = await client.register(receiver.url);
    const authorization = `Bearer ${tokens.access_token}`;
    const paused = await client.request('POST', `/v18.0/endpoints/${id}/pause`, {
      headers: { authorization },
    });
    assert.equal(paused.status, 200, paused.text);
    const { actor } = await newestChange(client, `endpoint:${id}`);
    const { name } = (await send(client, 'GET', `/oauth_clients/${application.id}`)).json;
    assert.deepEqual(actor, { type: 'oauth_client', id: application.id, name, person: person.profileId });
    for (const by of [application.id, person.profileId]) {
      const { data } = (await send(client, 'GET', `/changes?actor=${by}`)).json;
      assert.deepEqual(
        data.map(({ action }: Change) => action),
        ['paused'],
      );
    }
  });

  it('is the incident that disables an endpoint [world]', async () => {
    client = await (await sharedSystem(IMPATIENT)).account();
    receiver.handle(reply(500));
    const { id } = await client.register(receiver.url, UNTIL_DISABLED);
    await client.purchase();
    const change = await until(
      () => newestChange(client, `endpoint:${id}`),
      ({ action }) => action === 'disabled',
    );
    assert.deepEqual(change.actor, { type: 'system', id: 'incident' });
    assert.deepEqual(change.changed, ['/status', '/status_reason']);
  });

  it('is the subscriber who confirms, from where [world]', async () => {
    const verifying = await sharedSystem(VERIFYING);
    const subscriber = await startReceiver();
    try {
      client = await verifying.account();
      subscriber.handle(reply(500));
      const { id } = await client.register(subscriber.url);
      const [asked] = await subscriber.waitFor((all) => all.length >= 1);
      const { confirmation_url } = JSON.parse(String(asked?.body));
      const failed = await until(
        () => newestChange(client, `endpoint:${id}`),
        ({ action }) => action === 'verification_failed',
      );
      assert.deepEqual(failed.actor, { type: 'system', id: 'verification' });
      const { pathname, search } = new URL(confirmation_url);
      const confirmed = await fetch(verifying.url + pathname + search, { headers: FORWARDED });
      assert.equal(confirmed.status, 202);
      const change = await until(
        () => newestChange(client, `endpoint:${id}`),
        ({ action }) => action === 'verified',
      );
      assert.deepEqual(change.actor, { type: 'subscriber', id: 'subscriber' });
      assert.equal(change.address, ADDRESS);
      assert.equal(change.request_id, confirmed.headers.get('x-request-id'));
      assert.equal(change.after?.['status'], 'active');
    } finally {
      await subscriber.close();
    }
  });
});
