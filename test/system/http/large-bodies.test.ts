import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';

const MAX_DRAINED_BYTES = 8388608;

import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';
import type { ApiClient } from '../../support/api-client.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

const CHUNK = Buffer.alloc(64 * 1024, ' ');

describe('a body that is too large', () => {
  let system: SharedSystem;
  let client: ApiClient;
  before(async () => {
    system = await sharedSystem();
    client = await system.account();
  });

  const headers = () => ({ authorization: `Bearer ${client.key}`, 'content-type': 'application/json' });

  /** Writes the whole body as fast as the connection takes it, then reads: as most clients do. */
  async function post(path: string, chunks: number, more: Record<string, string | number> = {}) {
    const outgoing: ClientRequest = request(`${system.url}${path}`, {
      method: 'POST',
      headers: { ...headers(), ...more },
    });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    for (let count = 0; count < chunks; count += 1) {
      if (!outgoing.write(CHUNK)) await Promise.race([once(outgoing, 'drain'), answered]);
    }
    outgoing.end();
    const [response] = await answered;
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part);
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() };
  }

  for (const [what, more] of [
    ['with its length', { 'content-length': 64 * CHUNK.length }],
    ['without its length', {}],
  ] as const) {
    for (const path of ['/v18.0/events/purchase', '/v18.0/endpoints']) {
      it(`sent ${what} to ${path} is answered 413 on a connection that stays open`, async () => {
        const answer = await post(path, 64, more);
        assert.equal(answer.status, 413);
        assert.equal(JSON.parse(answer.text).code, 'payload_too_large');
        assert.equal(answer.headers.connection, 'keep-alive');
      });
    }
  }

  it('ends the connection when too much of it has been thrown away', async () => {
    const declared = 200 * MAX_DRAINED_BYTES;
    const { written, answer } = await open(declared, Number.POSITIVE_INFINITY);
    // Who goes on writing may lose the answer with the connection.
    assert.match(answer, /^$|^HTTP\/1.1 413 /);
    assert.ok(written < declared / 4, `${written} bytes were taken`);
  });

  it('is refused though the rest of it never comes', async () => {
    const { answer } = await open(4 * MAX_PAYLOAD_BYTES, 2 * MAX_PAYLOAD_BYTES);
    assert.match(answer, /^HTTP\/1.1 413 /);
    assert.match(answer, /\r\nconnection: close\r\n/i);
  });

  /** Sends a part of a body on a bare connection, and reads until that is closed. */
  async function open(declared: number, sent: number) {
    const { hostname, port } = new URL(system.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    const closed = new Promise<void>((resolve) => {
      socket.on('error', () => resolve()).on('close', () => resolve());
    });
    const lines = Object.entries({ host: hostname, ...headers(), 'content-length': declared });
    socket.write(
      `POST /v18.0/events/purchase HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`,
    );
    let written = 0;
    const pump = () => {
      while (answer === '' && written < sent && !socket.destroyed) {
        written += CHUNK.length;
        if (!socket.write(CHUNK)) {
          socket.once('drain', pump);
          return;
        }
      }
    };
    pump();
    await closed;
    return { written, answer };
  }
});
