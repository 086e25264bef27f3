import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How a link treats what it carries. */
export type LinkState =
  | { kind: 'well' }
  /** Connections end, and new ones are refused. */
  | { kind: 'cut' }
  /** Everything that is sent in either direction arrives so much later, milliseconds. */
  | { kind: 'slow'; byMs: number }
  /** Bytes of clients arrive, bytes of servers do not. When the link is well again, all of its connections end. */
  | { kind: 'unanswered' };

/** A network between two programs: a TCP proxy that can be broken. */
export interface Link {
  readonly port: number;
  set(state: LinkState): void;
  close(): Promise<void>;
}

/** @param target port of this machine */
export async function startLink(target: number): Promise<Link> {
  const sockets = new Set<Socket>();
  let state: LinkState = { kind: 'well' };
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  const carry = (from: Socket, to: Socket, isAnswer: boolean) => {
    sockets.add(from);
    /** When what was sent last arrives: nothing overtakes. */
    let lastAt = 0;
    const later = (act: () => void) => {
      const now = performance.now();
      lastAt = Math.max(lastAt, now + (state.kind === 'slow' ? state.byMs : 0));
      if (lastAt <= now) act();
      else setTimeout(act, lastAt - now);
    };
    from.on('data', (chunk) => {
      if (isAnswer && state.kind === 'unanswered') return;
      later(() => {
        if (to.destroyed || to.write(chunk)) return;
        from.pause();
        to.once('drain', () => from.resume());
      });
    });
    from.on('end', () => later(() => to.end()));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      later(() => to.destroy());
    });
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (state.kind === 'cut') {
      client.destroy();
      return;
    }
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, upstream]) socket.setNoDelay(true);
    carry(client, upstream, false);
    carry(upstream, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      // An answer of which a part is missing is no answer.
      const loses = state.kind === 'unanswered';
      state = next;
      if (loses || next.kind === 'cut') end();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      end();
      await closed;
    },
  };
}
