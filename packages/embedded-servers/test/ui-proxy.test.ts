import { deepEqual, equal } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort } from '../src/servers/ports.js';
import { startUiProxy } from '../src/servers/ui-proxy.js';

describe('the port of Temporal UI under `hookline dev`', () => {
  let ui: Server;
  let port: number;
  let proxy: { close(): void };
  /** Requests that Temporal UI got. */
  const asked: { url: string | undefined; host: string | undefined; body: string }[] = [];

  before(async () => {
    ui = createServer(async (incoming, response) => {
      asked.push({ url: incoming.url, host: incoming.headers.host, body: await text(incoming) });
      response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'] }).end('from the UI');
    });
    await once(ui.listen(0, '127.0.0.1'), 'listening');
    port = await freePort();
    proxy = await startUiProxy(port, { host: '127.0.0.1', port: (ui.address() as AddressInfo).port });
  });
  after(() => {
    proxy.close();
    ui.close();
  });

  async function send(headers: IncomingHttpHeaders, body?: string) {
    const method = body === undefined ? 'GET' : 'POST';
    const outgoing = request({ host: '127.0.0.1', port, path: '/api/v1/x?y=z', method, headers });
    const [response] = await once(outgoing.end(body), 'response');
    return {
      status: response.statusCode,
      cookies: response.headers['set-cookie'],
      text: await text(response),
    };
  }

  it('passes on what pages of this machine ask', async () => {
    for (const name of ['127.0.0.1', 'localhost']) {
      const host = `${name}:${port}`;
      const answer = await send({ host, origin: `http://${host}` }, 'terminate');
      deepEqual(answer, { status: 201, cookies: ['a=1', 'b=2'], text: 'from the UI' });
      equal((await send({ host })).status, 201);
    }
    const { port: ofUi } = ui.address() as AddressInfo;
    const whole = { url: '/api/v1/x?y=z', host: `127.0.0.1:${ofUi}`, body: 'terminate' };
    deepEqual(asked.splice(0), [whole, { ...whole, body: '' }, whole, { ...whole, body: '' }]);
  });

  it('refuses every other name, and pages of other origins', async () => {
    const host = `127.0.0.1:${port}`;
    for (const headers of [
      { host: `rebound.example:${port}` },
      { host: 'localhost' },
      { host: `localhost:${port + 1}` },
      { host, origin: 'null' },
      { host, origin: `http://127.0.0.1:${port + 1}` },
      { host, origin: `https://${host}` },
      { host: `rebound.example:${port}`, origin: `http://rebound.example:${port}` },
    ])
      equal((await send(headers, 'terminate')).status, 403, JSON.stringify(headers));
    deepEqual(asked, []);
  });

  it('says that Temporal UI does not answer while it does not', async () => {
    ui.closeAllConnections();
    ui.close();
    equal((await send({ host: `localhost:${port}` })).status, 502);
  });
});
