import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import { queuesByKey } from '../../../src/domain/basics/bounded-queue.js';
import { replayIdIn } from '../../../src/domain/ledger/workflow-ids.js';
import { MAX_OPEN_REPLAYS, type ReplayPlan } from '../../../src/domain/replay/replay.js';
import { TooManyReplaysError } from '../../../src/temporal/errors.js';
import {
  Replays,
  type ReplaysOptions,
  type StartedReplays,
} from '../../../src/temporal/write/replay/replays.js';
import { clockOfEach } from '../../support/clock.js';

/** State that all processes share. */
class Installation {
  /** In Temporal, with whether visibility lists them. */
  readonly replays = new Map<string, { closed_at?: string; isListed?: boolean }>();
  readonly remembered = new Map<string, Date>();
  isDown = false;
  private readonly queue = queuesByKey(1, 10);

  private readonly started: StartedReplays = {
    alone: (accountId, act) => this.queue(accountId)(act),
    of: async () => [...this.remembered].map(([id, at]) => ({ id, at })),
    add: async (_, id) => void this.remembered.set(id, new Date()),
    remove: async (ids) => ids.forEach((id) => void this.remembered.delete(id)),
  };

  process(): Replays {
    const reader = {
      get: async (_: string, id: string) => this.replays.get(id),
      openIds: async () =>
        [...this.replays].flatMap(([id, { isListed, closed_at }]) => (isListed && !closed_at ? [id] : [])),
    };
    const start = async (_: string, { workflowId }: { workflowId: string }) => {
      if (this.isDown) throw new Error('out of reach');
      this.replays.set(replayIdIn(workflowId), {});
    };
    return new Replays({
      client: { workflow: { start } },
      taskQueue: 'test',
      reader,
      started: this.started,
      inputs: { keep: async () => {} },
    } as unknown as ReplaysOptions);
  }
}

let number = 0;
const begin = (replays: Replays) => {
  number += 1;
  const plan = { account_id: 'acct_1', replay_id: `rpl_${number}`, action: 'resend', rate: 1 };
  const input = { filter: { created_after: '', created_before: '' }, from: {} };
  return replays.start(plan as unknown as ReplayPlan, input, {} as Parameters<Replays['start']>[2]).then(
    () => 'started',
    (error: unknown) => {
      if (error instanceof TooManyReplaysError) return 'refused';
      throw error;
    },
  );
};

describe('the open replays of an account', () => {
  let installation: Installation;
  clockOfEach(1_000_000);
  beforeEach(() => {
    installation = new Installation();
  });

  it('are as many as there may be, of all processes together, though none of them is listed yet', async () => {
    const processes = [installation.process(), installation.process(), installation.process()];
    const outcomes = await Promise.all(processes.flatMap((one) => [1, 2, 3, 4].map(() => begin(one))));
    equal(outcomes.filter((outcome) => outcome === 'started').length, MAX_OPEN_REPLAYS);
    // Listed at last, they are counted once.
    for (const replay of installation.replays.values()) replay.isListed = true;
    equal(await begin(installation.process()), 'refused');
  });

  it('make room when they are over, and are remembered no longer then', async () => {
    const replays = installation.process();
    for (let count = 0; count < MAX_OPEN_REPLAYS; count += 1) equal(await begin(replays), 'started');
    for (const replay of installation.replays.values()) replay.closed_at = 'now';
    equal(await begin(replays), 'started');
    equal(installation.remembered.size, 1);
  });

  it('count one whose start has failed for ten seconds: it may be on its way', async () => {
    const replays = installation.process();
    for (let count = 1; count < MAX_OPEN_REPLAYS; count += 1) await begin(replays);
    installation.isDown = true;
    await rejects(begin(replays), /out of reach/);
    installation.isDown = false;
    mock.timers.tick(9_999);
    equal(await begin(replays), 'refused');
    mock.timers.tick(2);
    deepEqual([await begin(replays), await begin(replays)], ['started', 'refused']);
  });
});
