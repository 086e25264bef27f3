import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Report } from '../../../bench/chaos/report.js';
import { needs } from '../../support/needs.js';
import { countStart } from '../../support/started.js';

// It starts servers of its own, whose programs take minutes to make.
needs('servers');

/**
 * It has a plan with kills of processes and of both servers, networks that lose answers, a clock that is set, and acts
 * upon all of it.
 */
const ARGUMENTS = ['--seed', '669', '--minutes', '0.35', '--rate', '6', '--sample', '20'];
/**
 * Long enough for what waits longest on a machine that is busy: a run says itself what does not come to rest.
 * Milliseconds.
 */
const LIMIT_MS = 900_000;

/**
 * The runner of `npm run chaos`, as it is built, for a short time: it costs a minute of processor, because nothing less
 * than servers and processes that really die shows that nothing is lost and that all views agree.
 */
describe('a whole installation under faults [world]', function () {
  this.timeout(LIMIT_MS);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookline-chaos-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('loses nothing, leaves nothing open, and shows the same in all views', async () => {
    countStart('process');
    const out = join(folder, 'report.json');
    const command = ['--enable-source-maps', 'dist/bench/chaos/index.js', ...ARGUMENTS, '--out', out];
    const said = await promisify(execFile)(process.execPath, command).then(
      ({ stdout }) => stdout,
      ({ stdout, stderr }: { stdout: string; stderr: string }) => assert.fail(`${stdout}\n${stderr}`),
    );
    const report = JSON.parse(await readFile(out, 'utf8')) as Report;
    assert.ok(report.isWell, said);
    assert.ok(Object.keys(report.faults).length >= 4, said);
    assert.ok(report.counts.accepted > 100 && report.counts.deliveries > report.counts.accepted, said);
  });
});
