import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import type { StoredEvent } from '../../../src/domain/delivery/stored-event.js';
import { StarterWatch } from '../../../src/temporal/write/accept/starter-watch.js';

describe('events of a dead process', () => {
  it('have their places, in their order, before the first of them is started', async () => {
    const did: string[] = [];
    const stored = ['a', 'b'].map(() => {
      const event = { account_id: '', event_id: newId('event'), event_kind: 'purchase', accepted_at: '' };
      return { event, targets: [{ endpoint_id: 'ep_1', order_key: 'o:1' }], carriers: [] };
    });
    const starter = {
      id: 'own',
      intake: {
        placed: async (some: { event_id: string; targets: object[] }[]) =>
          void did.push(...some.map(({ event_id, targets }) => `place ${event_id} ${targets.length}`)),
      },
      feedOrder: { stored: async () => {} },
      startStored: async ({ event }: StoredEvent) => void did.push(`start ${event.event_id}`),
      settleDoubts: async () => {},
    };
    const dead = { id: 'dead', beats: 1, since: 0, settled: 0, isEarly: false };
    const starters = { all: async () => [dead], forget: async () => void did.push('forgotten') };
    const store = {
      async *ofStarter() {
        yield stored;
      },
    };
    let now = 0;
    const watch = new StarterWatch(starter as never, { starters, store } as never, 1_000, () => now);
    await watch.look();
    assert.deepEqual(did, []);
    now = 1_000;
    await watch.look();
    const ids = stored.map(({ event }) => event.event_id);
    assert.deepEqual(did, [
      ...ids.map((id) => `place ${id} 1`),
      ...ids.map((id) => `start ${id}`),
      'forgotten',
    ]);
  });
});
