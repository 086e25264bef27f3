import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut, so that a system loses the server without anybody else losing it. */
export interface Relay {
  port: number;
  /** Ends every connection and refuses new ones, until {@link Relay.mend}. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Passes connections on to a port of this machine. */
export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((client) => {
    if (isCut) {
      client.destroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend() {
      isCut = false;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
