import assert from 'node:assert/strict';
import { freePort } from '../../../packages/embedded-servers/src/index.js';
import { newSigningSecret, sign } from '../../../src/domain/delivery/signature.js';
import { LANGUAGES, type Language, snippet } from '../../../web/src/pages/endpoints/secret/snippets.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { canRun, runSample, type SampleReceiver } from '../../support/programs/sample-receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Not as a parser of JSON would write it again, with letters of more than one byte. */
const BODY = PURCHASE.replace('12.5', ' 12.50 ').replace('Notebook', 'Grüße, 雪');

/** Those that need nothing but what every machine has that runs the tests. */
const QUICK: readonly Language[] = ['node', 'python'];

describe('the code that the web application shows', () => {
  let system: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem({
      HOOKLINE_ALLOW_HTTP: 'true',
      HOOKLINE_ENDPOINT_VERIFICATION: 'required',
    });
    client = await system.account();
  });

  for (const { id: language, name } of LANGUAGES) {
    describe(`for ${name}${QUICK.includes(language) ? '' : ' [world]'}`, () => {
      let receiver: SampleReceiver | undefined;
      let url: string;
      let endpoint: { id: string; secret: string };

      before(async function () {
        if (!canRun(language)) return this.skip();
        const port = await freePort();
        url = `http://127.0.0.1:${port}/webhooks`;
        endpoint = await client.register(url);
        receiver = await runSample(language, snippet(language, endpoint.secret), port);
        // It was asked before the code ran, and is asked again as the page does.
        const path = `/v18.0/endpoints/${endpoint.id}`;
        await client.request('POST', `${path}/verify`);
        await until(
          async () => (await client.request('GET', path)).json,
          ({ status }) => status === 'active',
        );
      });
      after(async () => {
        await receiver?.stop();
        if (receiver) await client.request('DELETE', `/v18.0/endpoints/${endpoint.id}`);
      });

      const deliver = async () => {
        const { deliveries } = await client.purchase(BODY);
        const delivery = deliveries.find(({ endpoint_id }) => endpoint_id === endpoint.id);
        return client.deliveryUntil(delivery?.id ?? '', ({ attempts }) => attempts.length > 0);
      };
      /** Posts what somebody else could post. */
      const post = async (changes: Record<string, string | undefined>, body = BODY) => {
        const timestamp = changes['webhook-timestamp'] ?? now();
        const headers: Record<string, string | undefined> = {
          'content-type': 'application/json',
          'webhook-id': 'evt_1',
          'webhook-timestamp': timestamp,
          'webhook-signature': sign([endpoint.secret], 'evt_1', Number(timestamp), BODY),
          'webhook-event-kind': 'purchase',
          ...changes,
        };
        const sent = Object.entries(headers).filter((header): header is [string, string] => !!header[1]);
        return (await fetch(url, { method: 'POST', headers: sent, body })).status;
      };

      it('answers the verification, and takes a delivery, also while its secret is rotated', async () => {
        assert.equal((await deliver()).status, 'delivered');
        await until(
          () => receiver?.lines.join(' ') ?? '',
          (text) => text.includes('purchase') && text.includes('order-1'),
        );
        await client.request('POST', `/v18.0/endpoints/${endpoint.id}/secret/rotate`, { body: {} });
        assert.equal((await deliver()).status, 'delivered');
      });

      it('takes a genuine request, and refuses one that is forged, signed otherwise, or old', async () => {
        const early = now(-301);
        const signature = sign([newSigningSecret(), newSigningSecret('v1a')], 'evt_1', Number(now()), BODY);
        assert.equal(await post({}), 204);
        assert.equal(await post({}, BODY.replace('12.50', '99.00')), 400, 'another body');
        assert.equal(await post({}, ''), 400, 'no body');
        assert.equal(await post({ 'webhook-signature': signature }), 400, 'other secrets');
        assert.equal(await post({ 'webhook-timestamp': early }), 400, 'too old');
        // Read now, and further ahead than a slow program takes to look at it.
        assert.equal(await post({ 'webhook-timestamp': now(330) }), 400, 'of the future');
        assert.equal(await post({ 'webhook-id': 'evt_2' }), 400, 'another id');
      });

      it('refuses a request whose headers are missing, or are not what they should be', async () => {
        for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
          for (const value of ['', 'x', 'v1,', '-1', '9'.repeat(30), 'v1,grüße', '1e9'])
            assert.equal(await post({ [header]: value }), 400, `${header}: ${value}`);
        assert.equal(await post({}), 204, 'it is still there');
      });
    });
  }
});

/** Unix seconds. @param plus how many seconds from now */
const now = (plus = 0) => String(Math.floor(Date.now() / 1_000) + plus);
