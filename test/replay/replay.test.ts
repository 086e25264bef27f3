import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { type ReplayError, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';
import { workflowSinks } from '../../src/temporal/server/sinks.js';
import * as workflows from '../../workflows/index.js';
import { needs } from '../support/needs.js';
import { endOf, HISTORIES, ofType, type RecordedHistory, workflowTypeOf } from './histories.js';
import { SCENARIOS } from './scenarios.js';

needs('build');

/** Code put behind that of the workflows; docs/changing-workflows.md lists its changes. */
const INCOMPATIBLE = new URL('incompatible.cjs', import.meta.url);

const TYPES = Object.keys(workflows);
const CHANGES = ['first', 'last'] as const;

describe('the workflows', () => {
  let errors: Map<string, ReplayError | undefined>;
  before(async () => {
    const changed = TYPES.flatMap((type) => {
      const shortest = shortestCompleted(type);
      return CHANGES.map((change) => ofType(`${change}:${type}`, shortest));
    });
    errors = await replay([...HISTORIES, ...changed]);
  });

  it('have a recorded history of every scenario', () => {
    assert.deepEqual(HISTORIES.map(({ name }) => name).sort(), Object.keys(SCENARIOS).sort());
  });

  for (const { name } of HISTORIES) {
    it(`replay ${name}`, () => {
      assert.ok(errors.has(name), 'it was replayed');
      assert.equal(errors.get(name), undefined);
    });
  }

  for (const change of CHANGES) {
    it(`do not replay with one more command ${change}, whatever their type`, () => {
      const replayed = TYPES.filter(
        (type) => !(errors.get(`${change}:${type}`) instanceof DeterminismViolationError),
      );
      assert.deepEqual(replayed, []);
    });
  }
});

/**
 * The shortest history of a workflow that came to its end by itself: a change of every workflow shows in any of them.
 */
function shortestCompleted(type: string): RecordedHistory {
  const [shortest] = HISTORIES.filter(
    (one) => workflowTypeOf(one) === type && endOf(one) === 'COMPLETED',
  ).sort((one, other) => one.history.events.length - other.history.events.length);
  assert.ok(shortest, `a completed history of ${type}`);
  return shortest;
}

/**
 * Replays histories on the built bundle, beside which are its workflows with a change.
 *
 * @returns why each did not replay, by its name
 */
async function replay(histories: readonly RecordedHistory[]): Promise<Map<string, ReplayError | undefined>> {
  const [bundle = '', incompatible = ''] = await Promise.all(
    [BUNDLE_PATH, INCOMPATIBLE].map((file) => readFile(file, 'utf8')),
  );
  // The SDK reads the source map to the end of the text.
  const workflowBundle = { code: bundle.replace(/(?=^\/\/# sourceMappingURL=)/m, () => incompatible) };
  const named = histories.map(({ name, history }) => ({ workflowId: name, history }));
  let counted = 0;
  const sinks = workflowSinks((closings) => {
    counted += closings.length;
  });
  const errors = new Map<string, ReplayError | undefined>();
  // In the debug mode that is usual for a replay, workflows run in this thread, and the SDK's promise hooks slow all
  // later tests of the process.
  const options = { workflowBundle, sinks, debugMode: false };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, named))
    errors.set(workflowId, error as ReplayError | undefined);
  assert.equal(counted, 0, 'a replay must count nothing again');
  return errors;
}
