import { deepEqual, equal } from 'node:assert/strict';
import { healthReports } from '../../../src/api/routes/health.js';
import {
  MAX_UNSTARTED,
  MAX_UNSTARTED_BYTES,
  Unstarted,
} from '../../../src/temporal/write/accept/unstarted.js';

const CHECKS = ['mongodb', 'temporal', 'migrated', 'events', 'worker'];

/** Response of `/readyz` for a process with some checks, some of which fail. */
async function readiness(checks: readonly string[], failing: readonly string[]) {
  const check = (name: string) => async () => {
    if (failing.includes(name)) throw new Error(name);
  };
  const report = healthReports({
    readiness: Object.fromEntries(checks.map((name) => [name, check(name)])),
    stopping: new AbortController().signal,
    warnings: () => [],
  });
  const answer = await report('/readyz');
  return [answer?.status, (answer?.body as { status: string } | undefined)?.status];
}

describe('readiness', () => {
  it('of a process that accepts events needs everything but Temporal', async () => {
    deepEqual(await readiness(CHECKS, []), [200, 'ok']);
    deepEqual(await readiness(CHECKS, ['temporal']), [200, 'degraded']);
    for (const name of CHECKS.filter((one) => one !== 'temporal'))
      for (const failing of [[name], [name, 'temporal']])
        deepEqual(await readiness(CHECKS, failing), [503, 'unavailable'], failing.join());
  });

  it('of a worker needs everything', async () => {
    const checks = CHECKS.filter((name) => name !== 'events');
    deepEqual(await readiness(checks, []), [200, 'ok']);
    for (const name of checks) deepEqual(await readiness(checks, [name]), [503, 'unavailable'], name);
  });
});

describe('events that wait to be started', () => {
  it('have room until as many deliveries, or as many bytes, wait as may', () => {
    for (const full of [
      { deliveries: MAX_UNSTARTED, bytes: 1 },
      { deliveries: 1, bytes: MAX_UNSTARTED_BYTES },
    ]) {
      const unstarted = new Unstarted();
      equal(unstarted.hasRoom, true);
      unstarted.add('evt_1', full);
      equal(unstarted.hasRoom, false);
      unstarted.remove('evt_1');
      equal(unstarted.hasRoom, true);
    }
  });
});
