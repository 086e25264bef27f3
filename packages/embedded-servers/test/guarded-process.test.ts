import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { needs } from '../../../test/support/needs.js';
import { until } from '../../../test/support/until.js';
import { type GuardedProcess, startGuarded } from '../src/servers/guarded-process.js';

needs('build');

/** The next line a stream brings. */
async function nextLine(input: NodeJS.ReadableStream | null): Promise<string> {
  assert.ok(input);
  const [line] = await once(createInterface({ input }), 'line');
  return String(line);
}

/** Waits until no process with this id runs; one that only waits to be collected by its parent counts as gone. */
async function gone(pid: number): Promise<void> {
  const state = () => spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim();
  await until(state, (is) => is === '' || is.startsWith('Z'));
}

const shell = (script: string, graceMs = 5_000): GuardedProcess =>
  startGuarded('/bin/sh', ['-c', script], { output: 'pipe', env: process.env, graceMs });

describe('a guarded process', () => {
  it('passes on the exit status and the output', async () => {
    const job = shell('echo hello; exit 7');
    assert.equal(await nextLine(job.child.stdout), 'hello');
    assert.equal(await job.exited, 7);
    await job.stop();
  });

  it('gets SIGTERM and time to finish', async () => {
    const job = shell('trap "echo finishing; exit 0" TERM; echo ready; while :; do sleep 0.05; done');
    assert.equal(await nextLine(job.child.stdout), 'ready');
    const [line] = await Promise.all([nextLine(job.child.stdout), job.stop()]);
    assert.equal(line, 'finishing');
  });

  it('is killed, with what it started, when it does not finish in time', async () => {
    const job = shell('trap "" TERM; sleep 1000 & echo $!; wait', 200);
    const pid = Number(await nextLine(job.child.stdout));
    await job.stop();
    await job.stop();
    await gone(pid);
  });

  it('is stopped when its guard is killed, whose end is not told as its own', async () => {
    const job = shell('trap "sleep 0.2; exit 0" TERM; echo $$; while :; do sleep 0.05; done', 1_000);
    const pid = Number(await nextLine(job.child.stdout));
    job.child.kill('SIGKILL');
    assert.equal(await job.exited, null);
    assert.equal(job.guardKilledBy(), 'SIGKILL');
    await gone(pid);
    await job.stop();
    assert.equal(job.guardKilledBy(), 'SIGKILL');
  });

  it('is killed when its guard is killed before anything watches for that', async () => {
    const options = { output: 'pipe', env: process.env, graceMs: 0, marginMs: 100 } as const;
    const job = startGuarded('/bin/sh', ['-c', 'echo $$; exec sleep 1000'], options);
    const pid = Number(await nextLine(job.child.stdout));
    const childrenOf = () => spawnSync('pgrep', ['-P', String(job.child.pid)], { encoding: 'utf8' }).stdout;
    const children = await until(
      () => childrenOf().trim().split(/\s+/).map(Number),
      ({ length }) => length === 2,
    );
    for (const watcher of children.filter((child) => child !== pid)) process.kill(watcher, 'SIGKILL');
    job.child.kill('SIGKILL');
    assert.equal(await job.exited, null);
    await gone(pid);
  });

  it('is stopped by a signal of its owner, which is not told as the end of its guard', async () => {
    const stopping = new AbortController();
    const job = startGuarded('/bin/sh', ['-c', 'echo $$; exec sleep 1000'], {
      output: 'pipe',
      env: process.env,
      signal: stopping.signal,
    });
    const pid = Number(await nextLine(job.child.stdout));
    stopping.abort();
    await job.exited;
    assert.equal(job.guardKilledBy(), undefined);
    await gone(pid);
  });

  it('ends when its parent is killed', async () => {
    const module = resolve('dist/packages/embedded-servers/src/servers/guarded-process.js');
    const script = `
      import { startGuarded } from ${JSON.stringify(module)};
      const job = startGuarded('/bin/sh', ['-c', 'echo $$; exec sleep 1000'], { output: 'pipe' });
      job.child.stdout.pipe(process.stdout);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = Number(await nextLine(parent.stdout));
    process.kill(pid, 0);
    parent.kill('SIGKILL');
    await gone(pid);
  });
});
