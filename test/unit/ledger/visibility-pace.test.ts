import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { isTemporalUnavailable, VisibilityBusyError } from '../../../src/temporal/errors.js';
import { VisibilityPace } from '../../../src/temporal/server/visibility-pace.js';

describe('the pace of calls that list or count', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 }));
  afterEach(() => mock.timers.reset());

  const pass = async (ms: number) => {
    await turn();
    mock.timers.tick(ms);
    await turn();
  };

  it('is so many at once, and then so many a second, in the order in which they come', async () => {
    const pace = new VisibilityPace(4);
    const waits: number[] = [];
    pace.observer = { waited: (seconds) => void waits.push(seconds), refused: assert.fail };
    const made: number[] = [];
    const calls = Promise.all(Array.from({ length: 10 }, (_, at) => pace.ask(async () => made.push(at))));
    await pass(999);
    assert.equal(made.length, 4);
    for (let quarter = 0; quarter < 4; quarter += 1) await pass(250);
    assert.equal(made.length, 8);
    for (let quarter = 0; quarter < 4; quarter += 1) await pass(250);
    await calls;
    assert.deepEqual(made, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert.equal(waits.length, 10);
  });

  it('refuses a call that would wait for more than twenty seconds: a later try may succeed', async () => {
    const pace = new VisibilityPace(2);
    const refused: string[] = [];
    pace.observer = { waited: () => {}, refused: () => void refused.push('refused') };
    for (let count = 0; count < 2 * 20 + 2; count += 1) void pace.ask(async () => {});
    await assert.rejects(
      pace.ask(() => assert.fail('it was made')),
      (error) => error instanceof VisibilityBusyError && isTemporalUnavailable(error),
    );
    assert.deepEqual(refused, ['refused']);
  });
});
