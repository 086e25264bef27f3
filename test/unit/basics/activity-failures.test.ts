import { deepEqual, equal } from 'node:assert/strict';
import { ApplicationFailure } from '@temporalio/common';
import { namesFailures } from '../../../src/temporal/server/activity-failures.js';

describe('an error that an activity throws', () => {
  /** The error as Temporal gets it, and the log of the process. */
  async function told(error: unknown): Promise<{ thrown: unknown; logged: unknown[] }> {
    const logged: unknown[] = [];
    const log = { warn: (_: string, { err }: { err: unknown }) => logged.push(err) };
    const { inbound } = namesFailures({ log } as never);
    const next = () => Promise.reject(error);
    const thrown = await inbound?.execute?.({} as never, next).catch((error: unknown) => error);
    return { thrown, logged };
  }

  it('is told to Temporal by class and code, and to the log with its message', async () => {
    const cause = new Error('of mongodb://10.0.0.7');
    const error = Object.assign(new RangeError('at https://shop.example/x', { cause }), { code: 11_000 });
    const { thrown, logged } = await told(error);
    if (!(thrown instanceof ApplicationFailure)) throw new TypeError('no failure');
    const { message, type, nonRetryable, cause: shown } = thrown;
    deepEqual([message, type, nonRetryable, shown], ['RangeError (11000)', 'RangeError', false, undefined]);
    deepEqual(logged, [error]);
  });

  it('is left as it is if the activity says it itself, or was told to end', async () => {
    for (const error of [
      ApplicationFailure.create({ type: 'isolated', message: 'The endpoint is slow.' }),
      Object.assign(new Error('aborted'), { name: 'AbortError' }),
    ]) {
      const { thrown, logged } = await told(error);
      equal(thrown, error);
      deepEqual(logged, []);
    }
  });
});
