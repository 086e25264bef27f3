import { EventEmitter, once } from 'node:events';
import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A request's headers, names in lower case, repeated ones joined with a comma. */
export function plainHeaders(request: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
}

/** What has been received so far, and a way to wait for more without polling. */
export class RequestLog<T> {
  readonly entries: T[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);

  add(entry: T): void {
    this.entries.push(entry);
    this.changed();
  }

  /** To be called after an entry was altered: conditions are looked at again. */
  changed(): void {
    this.#events.emit('changed');
  }

  /** Resolves with a copy of the entries once `predicate` accepts them. @throws after `timeoutMs` */
  async waitFor(predicate: (entries: readonly T[]) => boolean, timeoutMs: number): Promise<T[]> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      while (!predicate(this.entries)) {
        await once(this.#events, 'changed', { signal: late.signal }).catch(() => {
          throw new Error(`Waited ${timeoutMs} ms in vain; ${this.entries.length} requests received`);
        });
      }
      return [...this.entries];
    } finally {
      clearTimeout(timer);
    }
  }
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
