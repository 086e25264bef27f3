import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { wakeWritersOfClosedSockets } from '../../../src/models/mongo/closed-sockets.js';

/** As the driver for MongoDB writes. */
async function write(socket: Socket): Promise<void> {
  if (!socket.write('a request')) await once(socket, 'drain');
}

describe('a socket that has been closed', () => {
  before(wakeWritersOfClosedSockets);

  it('wakes whoever writes to it and waits until it drains, which it never does', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address);
    try {
      const socket = connect(address.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
      // It is destroyed, and says so only later.
      await write(socket);
      assert.ok(socket.destroyed);
    } finally {
      server.close();
    }
  });
});
