import assert from 'node:assert/strict';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { readAll } from '../../support/parts/pages.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const ENDPOINTS = 100;
/** As many updates as Temporal lets a workflow have in flight. */
const RETRIED = 10;

/**
 * The longest purchase. Where payloads are not encrypted, each of its bytes takes two in Temporal, because it is JSON
 * in JSON.
 */
const LONGEST = JSON.stringify({
  ...JSON.parse(PURCHASE),
  items: [{ name: '"'.repeat(MAX_PAYLOAD_BYTES / 2 - 200), qty: 1 }],
});

describe('a large group of deliveries of one event [world]', () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver({ tls: false });
  });
  afterEach(() => receiver.close());

  const use = async (
    retry_schedule: string[],
    work: (client: ApiClient, eventId: string) => Promise<void>,
    { payload = LONGEST, endpoints = ENDPOINTS } = {},
  ) => {
    const system = await sharedSystem({ HOOKLINE_PAYLOAD_KEYS: '' });
    const client = await system.account();
    const urls = Array.from({ length: endpoints }, (_, index) => `${receiver.url}/${index}`);
    await registerDirectly(system.database.endpoints, client.accountId, urls, { retry_schedule });
    await work(client, (await client.purchase(payload)).id);
  };
  /** Waits until so many deliveries of the event have a status. @returns those that have it */
  const untilSo = async (client: ApiClient, id: string, status: string, count: number) => {
    const { deliveries } = await until(
      async () => (await client.request('GET', `/v18.0/events/${id}`)).json,
      ({ deliveries = [] }: { deliveries: { id: string; status: string }[] }) =>
        deliveries.filter((one) => one.status === status).length === count,
    );
    return deliveries.filter((one) => one.status === status);
  };

  it('ends as its deliveries do, with the longest payload and the longest answers', async () => {
    receiver.handle((_, response) => {
      response.writeHead(500, { 'content-type': 'x'.repeat(2_000), server: 'y'.repeat(2_000) });
      response.end('€'.repeat(5_000));
    });
    await use(['100ms', '100ms', '100ms'], async (client, id) => {
      await untilSo(client, id, 'exhausted', ENDPOINTS);
      assert.equal(receiver.received.length, 4 * ENDPOINTS);
    });
  });

  it('lets many go at once that somebody retries, with the longest payload', async () => {
    receiver.handle(reply(500));
    await use(['1h'], async (client, id) => {
      const waiting = await untilSo(client, id, 'retrying', ENDPOINTS);
      receiver.handle(reply(200));
      const retry = async ({ id }: { id: string }) => {
        let asked = 0;
        const { status, text } = await until(
          () => {
            asked += 1;
            return client.request('POST', `/v18.0/deliveries/${id}/retry`);
          },
          (answer) => answer.status !== 503,
        );
        // On a busy machine a retry may take longer than its caller waits. If it was taken all the same, the next one
        // comes too late.
        if (asked > 1 && status === 409) assert.match(text, /closed: delivered|an attempt is in flight/i);
        else assert.equal(status, 200, text);
      };
      await Promise.all(waiting.slice(0, RETRIED).map(retry));
      await untilSo(client, id, 'delivered', RETRIED);
      await untilSo(client, id, 'retrying', ENDPOINTS - RETRIED);
    });
  });

  it('is listed page by page, whether it is open or has closed', async () => {
    const endpoints = 30;
    const list = async (client: ApiClient, query: string) =>
      (await readAll(client, `/v18.0/deliveries?limit=9&${query}`)).map(({ id }) => id).sort();
    const work = async (client: ApiClient, first: string) => {
      const delivered = (await untilSo(client, first, 'delivered', endpoints)).map(({ id }) => id).sort();
      receiver.handle(reply(500));
      const { id: second } = await client.purchase();
      const retrying = (await untilSo(client, second, 'retrying', endpoints)).map(({ id }) => id).sort();
      // Lists know a moment later what the event shows.
      await until(
        () => list(client, 'status=retrying'),
        ({ length }) => length === endpoints,
      );
      assert.deepEqual(await list(client, 'status=delivered'), delivered);
      assert.deepEqual(await list(client, 'status=retrying'), retrying);
      assert.deepEqual(await list(client, ''), [...delivered, ...retrying].sort());
    };
    await use(['1h'], work, { payload: PURCHASE, endpoints });
  });
});
