import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

let isWatching = false;

/**
 * Wakes waiters for a socket to drain when it closes. The driver (mongodb 7.5 to 7.9) waits for `drain` after each
 * write that a socket did not take, and a socket that is already destroyed takes none and never drains. If that meets
 * the driver's own check of the server, which has no time limit of its own, the process does not look for MongoDB again
 * until it is started anew. Once it is woken, the driver finds the connection closed.
 *
 * Of all sockets that this process opens (https://nodejs.org/api/diagnostics_channel.html#net): the driver lets nobody
 * have its own.
 */
export function wakeWritersOfClosedSockets(): void {
  if (isWatching) return;
  isWatching = true;
  subscribe('net.client.socket', (message) => {
    const { socket } = message as { socket: Socket };
    socket.once('close', () => {
      if (socket.listenerCount('drain') > 0) socket.emit('drain');
    });
  });
}
