import { deepEqual, equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { openPrivateFile } from '../../../src/embedded/servers/private-folder.js';
import { startServer } from '../../../src/embedded/servers/server-process.js';

/** A process that ends at once, as `hookline dev` does if a port is taken. */
const SCRIPT = `
import { createLogger } from './src/bin/process/output.ts';
import { loadSettings } from './src/config/load.ts';
createLogger(loadSettings({}), process.env['LOG_FILE']);
process.exit(3);
`;

describe('the log of hookline dev', () => {
  it('adds no error of its own if the process ends at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-log-file-'));
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', SCRIPT], {
      env: { PATH: process.env['PATH'], LOG_FILE: join(folder, 'logs', 'hookline.log') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    const { mode } = await stat(join(folder, 'logs', 'hookline.log'));
    await rm(folder, { recursive: true });
    deepEqual({ errors, code }, { errors: '', code: 3 });
    equal(mode & 0o777, 0o600);
  });

  it('can be read by its owner alone, also if an earlier version has made it for everybody', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-log-file-'));
    const file = join(folder, 'logs', 'temporal.log');
    await mkdir(join(folder, 'logs'));
    await writeFile(file, 'before\n');
    await chmod(file, 0o644);
    closeSync(openPrivateFile(file));
    const { mode, size } = await stat(file);
    await rm(folder, { recursive: true });
    deepEqual({ mode: mode & 0o777, size }, { mode: 0o600, size: 7 });
  });

  it('of a server that it starts can be read by its owner alone as well', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookline-log-file-'));
    const logFile = join(folder, 'logs', 'mongodb.log');
    const server = await startServer({
      service: 'a server',
      binary: process.execPath,
      args: ['-e', 'setInterval(() => {}, 1_000)'],
      logFile,
      probe: async () => {},
      report: () => {},
      restart: false,
    });
    const { mode } = await stat(logFile);
    await server.stop();
    await rm(folder, { recursive: true });
    equal(mode & 0o777, 0o600);
  });
});
