import assert from 'node:assert/strict';
import { releaseWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { executionOf } from '../../support/history.js';
import { startMongodbProxy } from '../../support/outside/mongodb-proxy.js';
import { startReceiver } from '../../support/receiver.js';
import { databaseIn, servers } from '../../support/servers.js';
import { SHORT_WAITS, startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('a delivery whose row is kept late [world]', () => {
  // The release has looked for rows three times by then: 6 s, in which nothing is computed.
  it('is made though its endpoint was resumed, and released what waited, before the row was there', async () => {
    const mongodb = await startMongodbProxy(databaseIn(servers().mongodbUri, `late${Date.now()}`));
    const receiver = await startReceiver();
    const system = await startSystem({ ...SHORT_WAITS, MONGODB_URI: mongodb.uri });
    try {
      const client = await system.account();
      const { id } = await client.register(receiver.url);
      const turn = (action: 'pause' | 'resume') =>
        client.request('POST', `/v18.0/endpoints/${id}/${action}`, { body: {} });
      assert.equal((await turn('pause')).status, 200);
      let refused = 0;
      mongodb.rule(({ isWrite, collection }) => {
        if (!isWrite || collection !== 'deliveries') return 'pass';
        refused += 1;
        return 'refuse';
      });
      const { deliveries } = await client.purchase();
      await until(() => refused > 0, Boolean);
      assert.equal((await turn('resume')).status, 200);
      const release = await executionOf(system, releaseWorkflowId(client.accountId, id));
      await release.result();
      assert.equal(receiver.received.length, 0);
      mongodb.heal();
      await client.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered');
    } finally {
      mongodb.heal();
      await system.stop();
      mongodb.close();
      await receiver.close();
    }
  });
});
