import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { answerParserErrors } from '../../../src/api/http/problems/parser-errors.js';
import { PROBLEMS } from '../../../src/domain/http/problems.js';

describe('what Node.js refuses before a handler sees it', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections();
  });

  const connectTo = async (options: ServerOptions = {}): Promise<Socket> => {
    const server = createServer(options, (request, response) => {
      request.resume().on('error', () => {});
      if (request.url === '/half') response.writeHead(200, { 'content-length': '9' }).write('half');
      else if (request.method === 'GET') response.end('whole');
    });
    servers.push(server);
    answerParserErrors(server, () => 'https://hooks.example.com');
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };
  const responseTo = async (request: string, options?: ServerOptions) => {
    const socket = await connectTo(options);
    socket.write(request);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { head, problem: JSON.parse(body) };
  };

  for (const [what, code, detail, request, options] of [
    [
      'a long query',
      'head_too_large',
      /more than 16384 bytes\. Send a shorter query/,
      `GET /?${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`,
    ],
    [
      'a long cookie',
      'head_too_large',
      /16384/,
      `GET / HTTP/1.1\r\nhost: x\r\ncookie: ${'a'.repeat(60_000)}\r\n\r\n`,
    ],
    ['no HTTP', 'malformed_request', /not valid HTTP\/1\.1: Parse Error/, 'hello\r\n\r\n'],
    [
      'a header without a colon',
      'malformed_request',
      /not valid HTTP/,
      'GET / HTTP/1.1\r\nhost: x\r\nnothing\r\n\r\n',
    ],
    [
      'two lengths',
      'malformed_request',
      /not valid HTTP/,
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    ],
    [
      'long extensions of a chunk',
      'payload_too_large',
      /extensions of a chunk/,
      `POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\n`,
    ],
    [
      'a head that stays unfinished',
      'request_timeout',
      /did not arrive whole in time/,
      'GET / HTTP/1.1\r\n',
      { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 30 },
    ],
    [
      'a body that stays unfinished',
      'request_timeout',
      /did not arrive whole/,
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf',
      { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 30 },
    ],
    [
      'an expectation',
      'expectation_failed',
      /Expect: more cannot be met/,
      'GET / HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n',
    ],
  ] as const)
    it(`is answered with a problem document: ${what}`, async () => {
      const { head, problem } = await responseTo(request, options);
      const [status, title] = PROBLEMS[code];
      assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(head, /content-type: application\/problem\+json/i);
      assert.match(head, /connection: close/i);
      assert.match(problem.detail, detail);
      const { type, title: named, status: said, code: coded, request_id } = problem;
      assert.deepEqual(
        [type, named, said, coded],
        [`https://hooks.example.com/errors/${code}`, title, status, code],
      );
      assert.match(head, new RegExp(`x-request-id: ${request_id}`));
    });

  it('is not written into a response that has begun', async () => {
    const socket = await connectTo();
    socket.write('GET /half HTTP/1.1\r\nhost: x\r\n\r\n');
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      if (received.endsWith('half')) socket.write('hello\r\n\r\n');
    });
    await once(socket, 'close');
    assert.match(received, /\r\n\r\nhalf$/);
  });

  it('is answered also behind a response that has ended', async () => {
    const socket = await connectTo();
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    let received = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      if (received === '') socket.write('hello\r\n\r\n');
      received += chunk;
    });
    await once(socket, 'close');
    assert.match(received, /whole.*HTTP\/1\.1 400 .*malformed_request/s);
  });
});
