import assert from 'node:assert/strict';
import { startSystem } from '../../support/system.js';

describe('HOOKLINE_HOST', () => {
  for (const [host, shown] of [
    ['::', '[::]'],
    ['::1', '[::1]'],
    ['localhost', 'localhost'],
  ] as const) {
    it(`can be ${host}`, async () => {
      const system = await startSystem({ HOOKLINE_HOST: host }, 'api');
      try {
        assert.match(system.url, new RegExp(`^http://${shown.replace(/[[\]]/g, '\\$&')}:\\d+$`));
        assert.equal((await fetch(`${system.url}/healthz`)).status, 200);
      } finally {
        await system.stop();
      }
    });
  }
});
