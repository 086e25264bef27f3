import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import proto from '@temporalio/proto';
import { LOOPBACK } from '../../../packages/embedded-servers/src/index.js';
import type { SecretKey } from '../../domain/access/secret-box.js';
import { EncryptionCodec } from '../../temporal/server/payload-codec.js';

const { Payloads } = proto.temporal.api.common.v1;

/**
 * Decrypts for Temporal's command line what Hookline has encrypted in Temporal, while a command runs: on this machine,
 * for whoever knows the token. The protocol is Temporal's:
 * https://docs.temporal.io/production-deployment/data-encryption#codec-server-setup
 *
 * @returns its address, and what `Authorization` must be
 */
export async function startCodecServer(keys: readonly SecretKey[]) {
  const codec = new EncryptionCodec(keys);
  const authorization = `Bearer ${randomBytes(24).toString('base64url')}`;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const act = { '/decode': codec.decode, '/encode': codec.encode }[request.url ?? ''];
    if (!isSame(request.headers.authorization ?? '', authorization))
      return void response.writeHead(401).end();
    if (!act || request.method !== 'POST') return void response.writeHead(404).end();
    const { payloads } = Payloads.fromObject((await json(request)) as Record<string, unknown>);
    const done = Payloads.fromObject({ payloads: await act.call(codec, payloads) });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Payloads.toObject(done, { bytes: String })));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.writeHead(400).end());
  });
  await once(server.listen(0, LOOPBACK), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${LOOPBACK}:${port}`,
    authorization,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
