import { once } from 'node:events';
import { Agent, request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { LOOPBACK } from './ports.js';

/** Where a server listens. */
interface Place {
  host: string;
  port: number;
}

/**
 * Serves Temporal UI at a port of this machine to its own pages alone. It checks neither the name by which it is asked
 * nor which page asks, so that a page of any site could reach it: by a name of that site's that leads to this machine
 * (DNS rebinding). Here `Host` must name this machine, and `Origin`, where there is one, must be this address.
 *
 * @param ui where Temporal UI listens
 */
export async function startUiProxy(port: number, ui: Place): Promise<{ close(): void }> {
  const hosts = [LOOPBACK, 'localhost'].map((host) => `${host}:${port}`);
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { host = '', origin } = request.headers;
    const isOwn = hosts.includes(host) && (origin === undefined || origin === `http://${host}`);
    if (isOwn && request.url?.startsWith('/')) forward(request, response, { ...ui, agent });
    else response.writeHead(403, { connection: 'close' }).end(`Temporal UI is at http://${hosts[0]}/\n`);
  });
  await once(server.listen(port, LOOPBACK), 'listening');
  return {
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

function forward(request: IncomingMessage, response: ServerResponse, to: Place & { agent: Agent }): void {
  // The connection is each side's own matter.
  const { connection: _its, 'keep-alive': _for, ...headers } = request.headers;
  const asked = ask({
    ...to,
    method: request.method,
    path: request.url,
    headers: { ...headers, host: `${to.host}:${to.port}` },
  });
  asked.once('response', (answer) => {
    const { connection: _own, 'keep-alive': _time, ...passed } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, passed);
    pipeline(answer, response).catch(() => {}); // either side has gone
  });
  asked.once('error', () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { connection: 'close' }).end('Temporal UI does not respond.\n');
  });
  response.once('close', () => asked.destroy());
  request.pipe(asked);
}
