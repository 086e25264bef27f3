import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type ReplayError, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';
import { workflowSinks } from '../../src/temporal/server/sinks.js';
import * as workflows from '../../workflows/index.js';
import { HISTORIES, type RecordedHistory, workflowTypeOf } from './histories.js';
import { SCENARIOS } from './scenarios.js';

describe('the workflows', () => {
  let errors: Map<string, ReplayError | undefined>;
  before(async () => {
    errors = await replay(HISTORIES, { codePath: BUNDLE_PATH });
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
});

// Each of these files changes every workflow type; docs/changing-workflows.md lists them.
for (const change of ['first', 'last']) {
  describe(`an incompatible change: one more command ${change}`, () => {
    let errors: Map<string, ReplayError | undefined>;
    before(async () => {
      const workflowsPath = fileURLToPath(new URL(`incompatible/${change}.ts`, import.meta.url));
      const logger = new DefaultLogger('ERROR', () => {});
      errors = await replay(HISTORIES, await bundleWorkflowCode({ workflowsPath, logger }));
    });

    for (const type of Object.keys(workflows)) {
      it(`makes every history of ${type} fail`, () => {
        const names = HISTORIES.filter((one) => workflowTypeOf(one) === type).map(({ name }) => name);
        assert.ok(names.length > 0);
        const green = names.filter((name) => !(errors.get(name) instanceof DeterminismViolationError));
        assert.deepEqual(green, []);
      });
    }
  });
}

/** Replays histories on a bundle. @returns why each did not replay, by its name */
async function replay(
  histories: readonly RecordedHistory[],
  workflowBundle: { codePath: string } | { code: string },
): Promise<Map<string, ReplayError | undefined>> {
  const named = histories.map(({ name, history }) => ({ workflowId: name, history }));
  let counted = 0;
  const sinks = workflowSinks((closings) => {
    counted += closings.length;
  });
  const errors = new Map<string, ReplayError | undefined>();
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, named))
    errors.set(workflowId, error as ReplayError | undefined);
  assert.equal(counted, 0, 'a replay must count nothing again');
  return errors;
}
