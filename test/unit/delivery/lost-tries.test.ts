import assert from 'node:assert/strict';
import type { Info } from '@temporalio/activity';
import { LostTries, lostTasks } from '../../../activities/delivery/lost-tries.js';

describe('tries of an activity', () => {
  const info = (attempt: number, activityId = '1') =>
    ({ attempt, activityId, workflowExecution: { workflowId: 'w', runId: 'r' } }) as Info;
  const lost = async (tries: LostTries, about: Info) => tries.counted(about, async (count) => count);
  const thrown = (tries: LostTries, about: Info) =>
    assert.rejects(
      tries.counted(about, () => Promise.reject(new Error('no database'))),
      /no database/,
    );

  it('count as lost if nobody knows how they ended', async () => {
    const tries = new LostTries();
    assert.equal(await lost(tries, info(1)), 0);
    assert.equal(await lost(tries, info(3)), 2);
  });

  it('do not count if they are known to have sent nothing', async () => {
    const tries = new LostTries();
    await thrown(tries, info(1));
    assert.equal(await lost(tries, info(2, '2')), 1, 'another activity');
    await thrown(tries, info(3));
    assert.equal(await lost(tries, info(4)), 1);
  });
});

describe('workflow tasks that were lost', () => {
  const info = { workflowExecution: { workflowId: 'w', runId: 'r' } } as Info;
  const ledger = (attempt: number) => ({
    asked: 0,
    async taskAttempt(...execution: string[]) {
      this.asked += 1;
      assert.deepEqual(execution, ['w', 'r']);
      return attempt;
    },
  });

  it('are asked for only if the release is older than a task can be', async () => {
    const second = ledger(2);
    assert.equal(await lostTasks(second, info, 1_000), 0);
    assert.equal(await lostTasks(second, info, undefined), 0);
    assert.equal(second.asked, 0);
    assert.equal(await lostTasks(second, info, 60_000), 1);
    assert.equal(await lostTasks(ledger(1), info, 60_000), 0);
  });

  it('may be one if Temporal does not say', async () => {
    const broken = { taskAttempt: () => Promise.reject(new Error('unavailable')) };
    assert.equal(await lostTasks(broken, info, 60_000), 1);
  });
});
