import { match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { missingForContainer } from '../../../tools/container.js';

/** The image is built from nothing, packages included. */
const LIMIT_MS = 45 * 60_000;

describe('the image [world]', () => {
  it('is built by its Dockerfile, and migrates, serves and stops as docker-compose.yml runs it', async function () {
    this.timeout(LIMIT_MS);
    const missing = await missingForContainer();
    if (missing.length > 0) {
      process.stderr.write(`No container is run: this machine lacks ${missing.join(', ')}.\n`);
      return this.skip();
    }
    const { stdout } = await promisify(execFile)('npx', ['tsx', 'tools/container.ts']);
    match(stdout, /^Temporal and MongoDB are ready\.$/m);
    match(stdout, /^\$ id: uid=1000\(node\)/m);
    match(stdout, /^\$ touch \/app\/x: .*Read-only file system/m);
    match(stdout, /^CapEff: 0{16} NoNewPrivs: 1$/m);
    match(stdout, / {2}delivered {2}/);
    match(stdout, /^SIGTERM: ended after [\d.]+ s with 0$/m);
  });
});
