import { deepEqual, equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { openPrivateFile, startServer } from '../../../packages/embedded-servers/src/index.js';
import { folderOfEach } from '../../support/folder.js';
import { needs } from '../../support/needs.js';

needs('build');

/** A process that ends at once, as `hookline dev` does if a port is taken. */
const SCRIPT = `
import { createLogger } from './dist/src/bin/process/output.js';
import { loadSettings } from './dist/src/config/load.js';
createLogger(loadSettings({}), process.env['LOG_FILE']);
process.exit(3);
`;

describe('the log of hookline dev', () => {
  const inFolder = folderOfEach();

  it('adds no error of its own if the process ends at once', async () => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT], {
      env: { PATH: process.env['PATH'], LOG_FILE: inFolder('logs', 'hookline.log') },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    const { mode } = await stat(inFolder('logs', 'hookline.log'));
    deepEqual({ errors, code }, { errors: '', code: 3 });
    equal(mode & 0o777, 0o600);
  });

  it('can be read by its owner alone, also if an earlier version has made it for everybody', async () => {
    const file = inFolder('logs', 'temporal.log');
    await mkdir(inFolder('logs'));
    await writeFile(file, 'before\n');
    await chmod(file, 0o644);
    closeSync(openPrivateFile(file));
    const { mode, size } = await stat(file);
    deepEqual({ mode: mode & 0o777, size }, { mode: 0o600, size: 7 });
  });

  it('of a server that it starts can be read by its owner alone as well', async () => {
    const logFile = inFolder('logs', 'mongodb.log');
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
    equal(mode & 0o777, 0o600);
  });
});
