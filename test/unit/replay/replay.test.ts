import assert from 'node:assert/strict';
import { isClosed, SHOWN_STATUSES } from '../../../src/domain/delivery/delivery.js';
import {
  accepts,
  addResults,
  describeReplay,
  MAX_REPLAY_FAILURES,
  MAX_REPLAY_INTERVENTIONS,
  NO_PROGRESS,
  type ReplayIntervention,
  replayRefusal,
  selectedStatuses,
} from '../../../src/domain/replay/replay.js';
import { operatorName, replayIn } from '../../../workflows/messages.js';

describe('what a replay acts on', () => {
  it('follows from what it does, and from the statuses that are asked for', () => {
    assert.deepEqual(selectedStatuses({ action: 'resend' }), ['exhausted', 'expired', 'cancelled']);
    assert.deepEqual(selectedStatuses({ action: 'resend', mode: 'all' }), SHOWN_STATUSES.filter(isClosed));
    assert.deepEqual(selectedStatuses({ action: 'resend', mode: 'failed' }, ['expired', 'parked']), [
      'expired',
    ]);
    assert.deepEqual(selectedStatuses({ action: 'resume' }), ['parked']);
    assert.deepEqual(selectedStatuses({ action: 'cancel' }, ['delivered']), []);
    for (const action of ['retry', 'cancel', 'resume'] as const)
      assert.ok(!selectedStatuses({ action }).some(isClosed), action);
  });

  it('is, of open deliveries, those that would not refuse it', () => {
    const [waiting, paused] = [{}, { paused: true as const }];
    assert.equal(accepts('retry', paused), false);
    assert.equal(accepts('resume', paused), true);
    assert.equal(accepts('resume', waiting), false);
    assert.equal(accepts('retry', waiting), true);
    assert.equal(accepts('cancel', paused), true);
  });
});

describe('the progress of a replay', () => {
  it('counts results, and keeps the first failures', () => {
    const failed = (index: number) => ({ id: `dlv_${index}`, result: 'failed' as const, detail: 'refused' });
    const many = Array.from({ length: MAX_REPLAY_FAILURES + 5 }, (_, index) => failed(index));
    const once = addResults({ ...NO_PROGRESS, found: 20 }, [
      { id: 'a', result: 'done' },
      { id: 'b', result: 'skipped' },
    ]);
    assert.deepEqual(once, { state: 'running', found: 20, done: 1, skipped: 1, failed: 0 });
    const then = addResults(addResults(once, many.slice(0, 4)), many.slice(4));
    assert.deepEqual([then.done, then.skipped, then.failed], [1, 1, many.length]);
    assert.deepEqual(
      then.failures?.map(({ id }) => id),
      many.slice(0, MAX_REPLAY_FAILURES).map(({ id }) => id),
    );
  });

  it('is a line for people', () => {
    const progress = { ...NO_PROGRESS, found: 12, done: 7, skipped: 2, failed: 1 };
    assert.equal(
      describeReplay({ action: 'resend', mode: 'missed', rate: 20 }, progress),
      'Resend (missed), running: 7 of 12 done, 2 skipped, 1 failed; at most 20 a second.',
    );
    assert.equal(
      describeReplay({ action: 'cancel', rate: 5 }, { ...NO_PROGRESS, state: 'paused' }),
      'Cancel, paused: 0 of 0 done; at most 5 a second.',
    );
  });
});

describe('a replay', () => {
  const refusal = (
    state: typeof NO_PROGRESS.state,
    action: ReplayIntervention['action'],
    interventions = 0,
  ) =>
    replayRefusal(
      {
        ...NO_PROGRESS,
        state,
        interventions: Array(interventions).fill({ action: 'pause', at: '', by: '' }),
      },
      action,
    );

  it('refuses what its state does not allow', () => {
    assert.equal(refusal('running', 'pause'), undefined);
    assert.equal(refusal('paused', 'resume'), undefined);
    assert.equal(refusal('paused', 'cancel'), undefined);
    assert.match(refusal('running', 'resume') ?? '', /not paused/);
    assert.match(refusal('paused', 'pause') ?? '', /paused already/);
    for (const action of ['pause', 'resume', 'cancel'] as const)
      for (const state of ['finished', 'cancelled'] as const)
        assert.match(refusal(state, action) ?? '', new RegExp(state));
  });

  it(`takes ${MAX_REPLAY_INTERVENTIONS} interventions, and then only a cancellation`, () => {
    assert.equal(refusal('running', 'pause', MAX_REPLAY_INTERVENTIONS - 1), undefined);
    assert.match(refusal('running', 'pause', MAX_REPLAY_INTERVENTIONS) ?? '', /at most 100/);
    assert.equal(refusal('running', 'cancel', MAX_REPLAY_INTERVENTIONS), undefined);
  });

  it('is named in messages by a valid id only, as Temporal UI can send anything', () => {
    const id = 'rpl_01J0000000000000000000000E';
    assert.equal(replayIn({ by: 'ada', replay: id }), id);
    for (const sent of [undefined, null, 'ada', { by: 'ada' }, { replay: 1 }, { replay: 'x'.repeat(5_000) }])
      assert.equal(replayIn(sent), undefined);
    assert.equal(operatorName({ by: 'ada', replay: id }), 'ada');
  });
});
