import assert from 'node:assert/strict';
import { clock } from '../../../bench/chaos/check/clock-rules.js';
import { BEGAN, delivery, iso, only, type Run, wellRun } from '../../support/parts/chaos-run.js';

const STEP_MS = 6 * 60_000;

const CASES: [string, RegExp | undefined, (run: Run) => void][] = [
  ['times as they were', undefined, () => {}],
  [
    'a request that is signed for an earlier time',
    /attempt 1 is signed for 2026-11-26T21:54:00.000Z, and it was 2026-11-26T22:00:00.000Z/,
    (run) => {
      only(run.received).timestamp -= STEP_MS / 1_000;
    },
  ],
  [
    'a request that is signed for a later time',
    /attempt 1 is signed for 2026-11-26T22:06/,
    (run) => {
      only(run.received).timestamp += STEP_MS / 1_000;
    },
  ],
  [
    'a request that arrived later than it was signed, because its process stood still',
    undefined,
    (run) => {
      only(run.received).timestamp -= 20;
    },
  ],
  [
    'an attempt that is recorded at another time',
    /attempt 2 is recorded at 2026-11-26T22:06/,
    (run) => {
      const [, second] = delivery(run).single.attempts;
      Object.assign(second ?? assert.fail(), { at: iso(BEGAN + STEP_MS) });
    },
  ],
  [
    'a delivery that was created before its event was posted',
    /is created at 2026-11-26T21:54/,
    (run) => {
      Object.assign(only(run.posted), { postedMs: BEGAN - 5 });
      delivery(run).single.created_at = iso(BEGAN - STEP_MS);
    },
  ],
  [
    'an event that was accepted after long outages',
    undefined,
    (run) => {
      Object.assign(only(run.posted), { postedMs: BEGAN - STEP_MS });
    },
  ],
  [
    'a delivery that is closed before its last attempt',
    /is closed at 2026-11-26T21:54/,
    (run) => {
      delivery(run).single.closed_at = iso(BEGAN - STEP_MS);
    },
  ],
];

describe('the checker of a chaos run, of clocks', () => {
  for (const [what, finding, change] of CASES)
    it(`${finding ? 'finds' : 'accepts'} ${what}`, () => {
      const run = wellRun();
      change(run);
      const found = clock(run).map(({ text }) => text);
      if (finding) assert.match(found.join(), finding);
      else assert.deepEqual(found, []);
    });
});
