import assert from 'node:assert/strict';
import type { ApiClient } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('the filters of lists', () => {
  let system: SharedSystem;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });

  it('take a time in UTC, with an offset, with a + that was not encoded, or a date', async () => {
    const { id } = await client.purchase();
    const count = async (query: string): Promise<number> => {
      const { status, json, text } = await client.request('GET', `/v18.0/events?${query}`);
      assert.equal(status, 200, text);
      return json.data.filter((event: { id: string }) => event.id === id).length;
    };
    await until(
      () => count(''),
      (found) => found === 1,
    );
    const hour = 3_600_000;
    /** The time so many hours from now, as a clock shows it that is two hours ahead of UTC. */
    const local = (hours: number) =>
      `${new Date(Date.now() + (hours + 2) * hour).toISOString().slice(0, -1)}+02:00`;
    for (const encode of [encodeURIComponent, (text: string) => text]) {
      assert.equal(await count(`created_after=${encode(local(-1))}`), 1);
      assert.equal(await count(`created_after=${encode(local(1))}`), 0);
      assert.equal(await count(`created_before=${encode(local(1))}`), 1);
      assert.equal(await count(`created_before=${encode(local(-1))}`), 0);
    }
    const day = (days: number) => new Date(Date.now() + days * 24 * hour).toISOString().slice(0, 10);
    assert.equal(await count(`created_after=${day(-1)}&created_before=${day(2)}`), 1);
    assert.equal(await count(`created_before=${day(-1)}`), 0);
  });
});
