import { deepEqual, equal, match, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { waitForEnds } from '../../../src/bin/client/trigger/wait.js';
import type { Values } from '../../../src/bin/command.js';

const EVENT = { id: 'evt_1', delivery_count: 1 };

/** A delivery as a list shows it. */
const delivery = (status: string, reason: string, endpoint_id = 'ep_1') => ({
  id: `dlv_${endpoint_id}`,
  endpoint_id,
  status,
  reason,
  ...(!['parked', 'retrying', 'delivering'].includes(status) && { closed_at: '2026-03-01T12:00:00Z' }),
});

const PARKED = delivery('parked', 'The endpoint is paused.');

/**
 * Waits for deliveries that a server lists differently each time, and in the end as in the last list.
 *
 * @returns what is written, line by line, and the exit code
 */
async function wait(lists: (typeof PARKED)[][], values: Values = {}, event = EVENT) {
  let asked = 0;
  const hookline = {
    async *list() {
      yield* lists[Math.min(asked++, lists.length - 1)] ?? [];
    },
  } as unknown as Parameters<typeof waitForEnds>[0];
  const lines: string[] = [];
  const keep = (text: unknown) => lines.push(String(text).trim()) > 0;
  const mocks = [process.stdout, process.stderr].map((stream) => mock.method(stream, 'write', keep));
  const { exitCode } = process;
  process.exitCode = undefined;
  try {
    await waitForEnds(hookline, event as Parameters<typeof waitForEnds>[1], { text: '20ms', ms: 20 }, values);
    return { lines, code: process.exitCode ?? 0 };
  } finally {
    process.exitCode = exitCode;
    for (const each of mocks) each.mock.restore();
  }
}

describe('trigger --wait', () => {
  it('ends at once where a delivery is parked, fails, and says what would wait for it', async () => {
    const { lines, code } = await wait([
      [PARKED],
      [delivery('delivered', 'The endpoint responded with 2xx.')],
    ]);
    deepEqual([lines[0], code], ['ep_1  parked  The endpoint is paused.', 1]);
    match(lines[1] ?? '', /^A parked delivery waits until its endpoint takes events again; --while-parked/);
  });

  it('goes on to the others beside a parked one, which it shows once', async () => {
    const retrying = delivery('retrying', 'Attempt 1 got a 503 response.', 'ep_2');
    const { lines, code } = await wait(
      [
        [PARKED, retrying],
        [PARKED, delivery('delivered', 'The endpoint responded with 2xx.', 'ep_2')],
      ],
      {},
      { ...EVENT, delivery_count: 2 },
    );
    deepEqual([lines.filter((line) => line.includes('ep_1')).length, code], [1, 1]);
    equal(lines.at(-1), 'ep_2  delivered  The endpoint responded with 2xx.');
  });

  it('waits for a parked one with --while-parked: until it is delivered, which is a success', async () => {
    const { lines, code } = await wait(
      [[PARKED], [delivery('delivered', 'The endpoint responded with 2xx.')]],
      {
        'while-parked': true,
      },
    );
    deepEqual(lines, [
      'ep_1  parked  The endpoint is paused.',
      'ep_1  delivered  The endpoint responded with 2xx.',
    ]);
    equal(code, 0);
  });

  it('… until it expires, which is none', async () => {
    const { lines, code } = await wait([[PARKED], [delivery('expired', 'Parked for 7d, the limit.')]], {
      'while-parked': true,
    });
    deepEqual([lines.at(-1), code], ['ep_1  expired  Parked for 7d, the limit.', 1]);
  });

  it('… or until its time is over: it says which wait, for what, and where to look', async () => {
    await rejects(wait([[PARKED]], { 'while-parked': true }), {
      lines: [
        'After 20ms, 1 of 1 deliveries have not ended:',
        '  ep_1  parked  The endpoint is paused.',
        'They go on. See them with: hookline deliveries --event evt_1',
      ],
    });
  });
});
