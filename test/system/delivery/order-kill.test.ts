import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { apiClient, PURCHASE } from '../../support/api-client.js';
import { needs } from '../../support/needs.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { type ReceivedRequest, startReceiver } from '../../support/receiver.js';
import { SHORT_WAITS, startSystem } from '../../support/system.js';

const KEYS = ['a', 'b', 'c'] as const;
/** Events of each key. */
const EVENTS = 15;
const LIMIT_MS = 600_000;
const SCHEDULE = ['300ms', '300ms', '300ms', '1s'];

describe('deliveries in order, with two nodes of which one is killed [world]', () => {
  needs('build');

  it('arrive in the order in which their producers were answered, and all of them', async function () {
    this.timeout(LIMIT_MS);
    const system = await startSystem(SHORT_WAITS);
    const account = await system.account();
    let requests = 0;
    const receiver = await startReceiver({
      handler: (_request, response) => {
        requests += 1;
        response.writeHead(requests % 7 === 3 ? 500 : 200).end();
      },
    });
    await account.register(receiver.url, { ordering: 'key', retry_schedule: SCHEDULE });
    let node = await startServiceProcess(system.environment);
    /** Posts an event to one node, and to the other one if it has no answer. */
    const post = async (key: string, number: number) => {
      const headers = { 'hookline-order-key': key, 'idempotency-key': `${key}-${number}` };
      const raw = JSON.stringify({ ...JSON.parse(PURCHASE), order_id: `${key}-${number}` });
      for (let tries = number; ; tries += 1) {
        const { request } = apiClient(tries % 2 === 0 ? system.url : node.url, account);
        const answer = await request('POST', '/v18.0/events/purchase', { raw, headers }).catch(
          () => undefined,
        );
        if (answer?.status === 202) return;
        await delay(200);
      }
    };
    const producing = Promise.all(
      KEYS.map(async (key) => {
        for (let number = 1; number <= EVENTS; number += 1) await post(key, number);
      }),
    );
    for (let kills = 0; kills < 2; kills += 1) {
      await delay(1_500);
      await node.kill();
      node = await startServiceProcess(system.environment);
    }
    await producing;
    const all = await receiver.waitFor(
      (some) =>
        new Set(some.filter(({ answered }) => answered === 200).map(orderOf)).size === KEYS.length * EVENTS,
      LIMIT_MS,
    );
    for (const key of KEYS) {
      const own = all.filter((one) => orderOf(one).startsWith(key));
      for (let number = 1; number <= EVENTS; number += 1) {
        const first = own.findIndex((one) => orderOf(one) === `${key}-${number}`);
        assert.equal(Number.parseInt(own[first]?.headers['webhook-order'] ?? '', 10), number);
        const before = own.findIndex(
          (one) => orderOf(one) === `${key}-${number - 1}` && one.answered === 200,
        );
        assert.ok(number === 1 || (before >= 0 && before < first), `${key}-${number} came too early`);
      }
    }
    await node.kill();
    await receiver.close();
    await system.stop();
  });
});

function orderOf({ body }: ReceivedRequest): string {
  return String((JSON.parse(body.toString()) as { order_id: string }).order_id);
}
