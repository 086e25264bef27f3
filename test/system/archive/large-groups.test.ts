import assert from 'node:assert/strict';
import { registerDirectly } from '../../../bench/support/endpoints.js';
import { readAll } from '../../support/parts/pages.js';
import { archived, forget } from '../../support/parts/records.js';
import { startReceiver } from '../../support/receiver.js';
import { startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** More than two pages have. */
const ENDPOINTS = 23;
const PAGE = 11;

describe('a large group in the archive [world]', () => {
  it('is listed in the same order, each delivery once, by the ledger, by the archive, and by one after the other', async () => {
    const system = await startSystem();
    const receiver = await startReceiver({ tls: false });
    try {
      const client = await system.account();
      const urls = Array.from({ length: ENDPOINTS }, (_, index) => `${receiver.url}/${index}`);
      await registerDirectly(system.database.endpoints, client.accountId, urls);
      const { id: eventId } = await client.purchase();
      const all = await until(
        () => readAll(client, '/v18.0/deliveries?limit=100'),
        (rows) => rows.length === ENDPOINTS && rows.every(({ closed_at }) => closed_at !== undefined),
      );
      assert.ok(all.every(({ event_id }) => event_id === eventId));
      await archived(
        system,
        client,
        all.map(({ id }) => id),
      );
      const walked = await readAll(client, `/v18.0/deliveries?limit=${PAGE}`, async (page) => {
        // Temporal removes the group when two pages of its deliveries have been listed.
        if (page === 3) await forget(system, all.slice(0, 1));
      });
      assert.deepEqual(walked, all);
      assert.deepEqual(await readAll(client, `/v18.0/deliveries?limit=${PAGE}`), all);
    } finally {
      await receiver.close();
      await system.stop();
    }
  });
});
