import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { STREAM_PROTOCOL } from '../../../src/domain/listener/listener.js';

/** Properties of a service that silent clients need: where it is, and an account's key. */
interface Service {
  url: string;
  key: string;
}

/**
 * Bytes that clients send before they fall silent, by kind. Those that get a response, as the second field says, do not
 * read it.
 */
const SILENT_KINDS = {
  'no request': ['', false],
  'part of a head': ['POST /v18.0/events/purchase HTTP/1.1\r\nhost: x\r\n', false],
  'seven of a hundred bytes': [
    'POST /v18.0/events/purchase HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\n' +
      'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"order',
    false,
  ],
  'a request at rest': ['GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n', true],
  // More than the buffers of a connection take.
  'responses that are not read': [
    'GET /openapi.json HTTP/1.1\r\nhost: x\r\nauthorization: Bearer KEY\r\n\r\n'.repeat(200),
    true,
  ],
  'a silent WebSocket': [
    'GET /v18.0/listeners/LISTENER/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer TICKET\r\n' +
      `connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-protocol: ${STREAM_PROTOCOL}\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    true,
  ],
} as const satisfies Record<string, readonly [sent: string, isAnswered: boolean]>;

type SilentKind = keyof typeof SILENT_KINDS;
export const ALL_SILENT = Object.keys(SILENT_KINDS) as SilentKind[];

/**
 * Connects clients that send nothing more, read nothing, and never close.
 *
 * @param kinds one for each client
 */
export async function connectSilently(service: Service, kinds: readonly SilentKind[]): Promise<Socket[]> {
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${service.url}/v18.0${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { id: string; ticket: string };
  };
  return Promise.all(
    kinds.map(async (kind) => {
      const [text, isAnswered] = SILENT_KINDS[kind];
      const needs = text.includes('LISTENER');
      const { id = '' } = needs ? await ask('/listeners', { event_kinds: ['endpoint.disabled'] }) : {};
      const { ticket = '' } = needs ? await ask(`/listeners/${id}/tickets`) : {};
      const { hostname, port } = new URL(service.url);
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(text.replaceAll('KEY', service.key).replace('LISTENER', id).replace('TICKET', ticket));
      if (isAnswered) await once(socket, 'readable');
      return socket;
    }),
  );
}
