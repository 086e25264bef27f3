import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, type ReplayError, Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { BUNDLE_PATH } from '../../src/temporal/server/bundle.js';
import { SCENARIOS } from './scenarios.js';

const FOLDER = new URL('histories/', import.meta.url);
const NAMES = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));

const read = (name: string) => JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));

describe('the workflows', () => {
  const failures = new Map<string, ReplayError | undefined>();

  before(async () => {
    const histories = NAMES.map((name) => ({ workflowId: name, history: read(name) }));
    const results = Worker.runReplayHistories({ workflowBundle: { codePath: BUNDLE_PATH } }, histories);
    for await (const { workflowId, error } of results) failures.set(workflowId, error as ReplayError);
  });

  it('have a recorded history of every way through them', () => {
    assert.deepEqual(NAMES.sort(), Object.keys(SCENARIOS).sort());
  });

  for (const name of NAMES) {
    it(`replay ${name}`, () => {
      assert.ok(failures.has(name), 'it was replayed');
      assert.equal(failures.get(name), undefined);
    });
  }

  it('would not replay after an incompatible change', async () => {
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('incompatible.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR', () => {}),
    });
    await assert.rejects(
      Worker.runReplayHistory({ workflowBundle }, read('deliver-event-first-success')),
      DeterminismViolationError,
    );
  });
});
