import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy before a server, which can make it look frozen or dead. */
export interface FreezingProxy {
  /** `host:port` */
  readonly address: string;
  /** From now on it accepts, and stays silent: nothing is passed on in either direction. */
  freeze(): void;
  /** From now on requests are passed on, and answers are not. */
  holdAnswers(): void;
  /** Passes everything on, what came meanwhile included. */
  thaw(): void;
  /** Cuts every connection and refuses new ones, as if the server had been killed. */
  cut(): Promise<void>;
  /** Accepts again, at the same address. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** @param target `host:port` of the server */
export async function startFreezingProxy(target: string): Promise<FreezingProxy> {
  const [host = '', port = ''] = target.split(':');
  const sockets = new Map<Socket, 'requests' | 'answers'>();
  /** Which direction is passed on. */
  let passes = { requests: true, answers: true };
  const server = createServer({ pauseOnConnect: true }, (client) => {
    const upstream = connect({ host, port: Number(port) });
    for (const [direction, from, to] of [
      ['requests', client, upstream],
      ['answers', upstream, client],
    ] as const) {
      sockets.set(from, direction);
      from.on('data', (chunk) => to.write(chunk));
      if (passes[direction]) from.resume();
      else from.pause();
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const pass = (directions: typeof passes) => {
    passes = directions;
    for (const [socket, direction] of sockets) {
      if (passes[direction]) socket.resume();
      else socket.pause();
    }
  };
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets.keys()) socket.destroy();
    await closed;
  };
  return {
    address: `127.0.0.1:${own}`,
    freeze: () => pass({ requests: false, answers: false }),
    holdAnswers: () => pass({ requests: true, answers: false }),
    thaw: () => pass({ requests: true, answers: true }),
    cut,
    restore: () => listen(own),
    close: async () => {
      if (server.listening) await cut();
    },
  };
}
