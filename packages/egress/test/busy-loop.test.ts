import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { post } from '../../../test/support/outside/post.js';
import { createAddressGuard } from '../src/address-guard.js';
import { createAddressPolicy } from '../src/addresses/address-policy.js';
import { createPoster } from '../src/poster.js';

/**
 * A receiver in a process of its own: it says its port, then of each request that it has it, and answers 50 ms later.
 */
const RECEIVER = `
  const server = require('node:http').createServer((request, response) => {
    request.resume();
    process.stdout.write('received\\n');
    setTimeout(() => response.writeHead(200).end('here it is'), 50);
  });
  server.listen(0, '127.0.0.1', () => process.stdout.write(server.address().port + '\\n'));`;

/** Time limit of an attempt: its request has to arrive on a slow machine. */
const TIMEOUT_MS = 1_500;

describe('the poster of a process that is busy', () => {
  let receiver: ChildProcess;

  afterEach(() => void receiver.kill());

  it('takes an answer that came in time, though nobody looked at it in time', async () => {
    receiver = spawn(process.execPath, ['-e', RECEIVER], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: receiver.stdout ?? process.stdin })[Symbol.asyncIterator]();
    const { value: port } = await lines.next();
    const policy = createAddressPolicy({
      allowedNetworks: ['127.0.0.0/8'],
      deniedNetworks: [],
      allowedPorts: ['1-65535'],
    });
    const poster = createPoster({ guard: createAddressGuard({ policy }), extraCa: [] });
    try {
      const posted = post(poster, `http://127.0.0.1:${port}/`, TIMEOUT_MS);
      assert.equal((await lines.next()).value, 'received');
      // The thread stands still, as where a process starts, beyond the limit of the attempt.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TIMEOUT_MS + 300);
      const { statusCode, error, body } = await posted;
      assert.deepEqual([statusCode, body, error], [200, 'here it is', undefined]);
    } finally {
      await poster.close();
    }
  });
});
