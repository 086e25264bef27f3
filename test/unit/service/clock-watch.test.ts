import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { watchClocks } from '../../../src/bin/service/watch/clock-watch.js';

describe('what a process says of its clock', () => {
  const servers: Record<string, { difference: number | undefined }> = {};
  const registry = new Registry();
  const said: string[] = [];
  const say = (_: unknown, text: string) => void said.push(text);
  const watch = watchClocks(registry, { warn: say, info: say } as never, servers);
  after(() => watch.stop());
  beforeEach(() => said.splice(0));

  it('is nothing while it does not know that of a server, or is two seconds from it', async () => {
    Object.assign(servers, { MongoDB: { difference: undefined }, Temporal: { difference: -2_000 } });
    watch.look();
    assert.deepEqual([said, watch.warnings()], [[], []]);
    const { values = [] } = (await registry.getMetricsAsJSON())[0] as { values?: unknown[] };
    assert.deepEqual(values, [{ value: -2, labels: { server: 'temporal' } }]);
  });

  it('is said once when it differs, and when it does no longer', () => {
    servers['MongoDB'] = { difference: 3_600_000 };
    servers['Temporal'] = { difference: -2_001 };
    const warnings = [
      'The clock of this machine is 3600.0 s ahead of that of MongoDB.',
      'The clock of this machine is 2.0 s behind that of Temporal.',
    ];
    watch.look();
    watch.look();
    assert.deepEqual(
      said,
      warnings.map((text) => `${text} Set both by NTP.`),
    );
    assert.deepEqual(watch.warnings(), warnings);
    servers['MongoDB'] = { difference: 0 };
    watch.look();
    assert.equal(said.at(-1), 'The clock of this machine is that of MongoDB again.');
  });
});
