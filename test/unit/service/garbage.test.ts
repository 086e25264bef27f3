import assert from 'node:assert/strict';
import { busyTimes, collectWhenIdle, exposedGc } from '../../../src/bin/process/garbage.js';

const INTERVAL_MS = 50;

function keepBusy(ms: number): void {
  const end = Date.now() + ms;
  while (Date.now() < end) JSON.stringify({});
}

describe('the collection of garbage', () => {
  it('comes once after each busy time, when nothing happens any more', () => {
    const isOver = busyTimes();
    const utilizations = [0, 0.1, 0.01, 0.9, 0.1, 0.3, 0.01, 0, 0.1, 0, 0.25, 0.02, 0];
    assert.deepEqual(
      utilizations.filter((utilization) => isOver(utilization)),
      [0.01, 0.02],
    );
  });

  it('comes after the event loop was busy, and takes what nobody refers to', async () => {
    const garbage = new WeakRef({});
    const gc = exposedGc();
    let end = () => {};
    // To ask again and again would keep the event loop of a busy machine busy.
    const collected = new Promise<void>((resolve) => {
      end = collectWhenIdle(() => {
        gc();
        resolve();
      }, INTERVAL_MS);
    });
    try {
      keepBusy(5 * INTERVAL_MS);
      await collected;
      assert.equal(garbage.deref(), undefined);
    } finally {
      end();
    }
  });
});
