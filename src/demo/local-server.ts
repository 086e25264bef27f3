import { once } from 'node:events';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A request's headers, names in lower case, repeated ones joined with a comma. */
export function plainHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

/**
 * Listens on 127.0.0.1. `close` ends every connection at once, also one in the middle of a TLS handshake, which
 * `server.closeAllConnections()` does not know of.
 *
 * @throws the system's error when the port is taken
 */
export async function listenLocally(
  server: HttpServer | HttpsServer,
  port = 0,
): Promise<{ port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Whether something listens at a port of 127.0.0.1. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
