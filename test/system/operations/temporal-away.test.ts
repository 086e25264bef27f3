import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { reply, startReceiver } from '../../support/receiver.js';
import { servers } from '../../support/servers.js';
import { startSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('reads of an account while Temporal is away [world]', () => {
  it('are answered with what MongoDB has, of a failing endpoint what its mark says', async () => {
    const proxy = await startFreezingProxy(servers().temporalAddress);
    const receiver = await startReceiver({ handler: reply(500) });
    const system = await startSystem({ TEMPORAL_ADDRESS: proxy.address });
    try {
      const client = await system.account();
      const { id: endpoint } = await client.register(receiver.url);
      const { id: event, deliveries } = await client.purchase();
      const delivery = deliveries[0]?.id ?? '';
      await client.deliveryUntil(delivery, ({ status }) => status === 'retrying');
      const since = new Date().toISOString();
      await system.database.endpoints.setFailing(client.accountId, endpoint, { since, backoff_until: since });
      await proxy.cut();
      // A process remembers an endpoint for a moment.
      await until(
        () => client.request('GET', `/v18.0/endpoints/${endpoint}`),
        ({ json }) => json.incident?.since === since,
      );
      const { paths } = JSON.parse(await readFile('docs/openapi.json', 'utf8'));
      const reads = Object.keys(paths).filter((path) => paths[path].get && !path.includes('/installation/'));
      const ids: Record<string, string> = {
        endpoints: endpoint,
        deliveries: delivery,
        accounts: client.accountId,
      };
      const asked = [
        ...reads.map((path) =>
          path.replace(/(\w+)\/\{(\w+)\}/, (_, of, name) =>
            name === 'first' ? `${of}/1` : `${of}/${ids[of] ?? (of === 'events' ? event : 'none')}`,
          ),
        ),
        `/v18.0/explain?endpoint_id=${endpoint}&event_id=${event}`,
      ];
      const answers = await Promise.all(
        asked.map(async (path) => ({ path, ...(await client.request('GET', path)) })),
      );
      const answerTo = (path: string) => answers.find((one) => one.path === path)?.json;
      assert.deepEqual(
        answers.filter(({ status }) => status >= 500).map(({ path }) => path),
        [],
      );
      const incident = { since, next_probe_at: since };
      assert.deepEqual(answerTo(`/v18.0/endpoints/${endpoint}`).incident, incident);
      assert.deepEqual(answerTo('/v18.0/endpoints').data[0].incident, incident);
      assert.equal(answerTo(asked.at(-1) ?? '').code, 'retrying');
    } finally {
      await proxy.restore();
      await system.stop();
      await proxy.close();
      await receiver.close();
    }
  });
});
