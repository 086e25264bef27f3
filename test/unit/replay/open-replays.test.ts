import { deepEqual, equal, rejects } from 'node:assert/strict';
import { mock } from 'node:test';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { queuesByKey } from '../../../src/domain/basics/bounded-queue.js';
import { newId } from '../../../src/domain/basics/ids.js';
import {
  type KeptReplay,
  MAX_OPEN_REPLAYS,
  type ReplayDefinition,
  type ReplayPlan,
} from '../../../src/domain/replay/replay.js';
import { TooManyReplaysError } from '../../../src/temporal/errors.js';
import { ReplayReader, type ReplayReads } from '../../../src/temporal/read/replay/replay-reader.js';
import { type ReplayStore, Replays } from '../../../src/temporal/write/replay/replays.js';
import { clockOfEach } from '../../support/clock.js';

/** State that all processes share. */
class Installation {
  /** Ids of the executions in Temporal, with whether they are open. */
  readonly executions = new Map<string, 'RUNNING' | 'TERMINATED'>();
  /** Kept in MongoDB. */
  readonly kept = new Map<string, KeptReplay>();
  isDown = false;
  private readonly queue = queuesByKey(1, 10);

  private readonly store: ReplayStore = {
    alone: (accountId, act) => this.queue(accountId)(act),
    open: async () => [...this.kept.values()].filter(({ end }) => !end),
    add: async (replay) => void this.kept.set(replay.id, replay),
    end: async (_, id, end) => void Object.assign(this.kept.get(id) ?? {}, { end }),
  };

  process(): Replays {
    const start = async (_: string, { workflowId }: { workflowId: string }) => {
      if (this.isDown) throw new Error('out of reach');
      this.executions.set(workflowId, 'RUNNING');
    };
    const getHandle = (workflowId: string) => ({
      describe: async () => {
        const name = this.executions.get(workflowId);
        if (!name) throw new WorkflowNotFoundError('', workflowId, undefined);
        return { status: { name }, closeTime: name === 'RUNNING' ? undefined : new Date(), memo: {} };
      },
    });
    const client = { workflow: { start, getHandle } } as unknown as Client;
    const reader = new ReplayReader(client, {} as ReplayReads);
    return new Replays({ client, taskQueue: 'test', reader, store: this.store });
  }
}

const begin = (replays: Replays) => {
  const plan = { account_id: 'acct_1', replay_id: newId('replay', Date.now()), action: 'resend', rate: 1 };
  const input = { filter: { created_after: '', created_before: '' }, from: {} };
  return replays.start(plan as ReplayPlan, { definition: {} as ReplayDefinition, input }).then(
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

  it('are as many as there may be, of all processes together', async () => {
    const processes = [installation.process(), installation.process(), installation.process()];
    const outcomes = await Promise.all(processes.flatMap((one) => [1, 2, 3, 4].map(() => begin(one))));
    equal(outcomes.filter((outcome) => outcome === 'started').length, MAX_OPEN_REPLAYS);
    equal(await begin(installation.process()), 'refused');
  });

  it('make room when they are over, also if Temporal alone knows it', async () => {
    const replays = installation.process();
    for (let count = 0; count < MAX_OPEN_REPLAYS; count += 1) equal(await begin(replays), 'started');
    for (const id of installation.executions.keys()) installation.executions.set(id, 'TERMINATED');
    equal(await begin(replays), 'started');
    const ends = [...installation.kept.values()].map(({ end }) => end?.progress.state);
    deepEqual(ends, [...Array(MAX_OPEN_REPLAYS).fill('cancelled'), undefined]);
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
