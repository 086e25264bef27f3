import { deepEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

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
    await rm(folder, { recursive: true });
    deepEqual({ errors, code }, { errors: '', code: 3 });
  });
});
