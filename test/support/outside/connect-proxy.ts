import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** An HTTP proxy that opens every connection it is asked for. */
export interface ConnectProxy {
  url: string;
  /** The authorities that it was asked for, in order. */
  asked: readonly string[];
  /** Stops, ending open connections at once. */
  close(): Promise<void>;
}

/** Starts a proxy for CONNECT requests. */
export async function startConnectProxy(host: '127.0.0.1' | '::1' = '127.0.0.1'): Promise<ConnectProxy> {
  const asked: string[] = [];
  const ends = new Set<() => void>();
  const proxy = createServer();
  proxy.on('connect', (request, client) => {
    asked.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url}`);
    const upstream = connect(Number(port || 80), hostname.replace(/^\[|\]$/g, ''), () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client);
      client.pipe(upstream);
    });
    const end = () => {
      upstream.destroy();
      client.destroy();
      ends.delete(end);
    };
    ends.add(end);
    for (const socket of [upstream, client]) socket.on('error', end).on('close', end);
  });
  proxy.listen(0, host);
  await once(proxy, 'listening');
  return {
    url: `http://${host === '::1' ? '[::1]' : host}:${(proxy.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      for (const end of ends) end();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
