import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { isId } from '../../domain/basics/ids.js';
import { STREAM_PROTOCOL } from '../../domain/listener/listener.js';
import type { EndpointRepository } from '../../models/endpoint/endpoints.js';
import type { ListenerStreams } from './streams.js';
import { readTicket } from './tickets.js';

/** The most bytes of one message: an answer of 16 KiB, its headers, and what JSON adds. */
const MAX_MESSAGE_BYTES = 512 * 1024;

export interface UpgradeOptions {
  streams: ListenerStreams;
  endpoints: EndpointRepository;
  box: SecretBox;
  logger: Logger;
}

/** Answers `GET /v18.0/listeners/{id}/stream`, which becomes a WebSocket if the ticket in `Authorization: Bearer` allows it. */
export function createUpgrade({ streams, endpoints, box, logger }: UpgradeOptions) {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => (offered.has(STREAM_PROTOCOL) ? STREAM_PROTOCOL : false),
  });
  return async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on('error', () => socket.destroy());
    try {
      const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
      const [, endpointId = ''] = /^\/v\d+\.\d+\/listeners\/(\w+)\/stream$/.exec(pathname) ?? [];
      if (!isId('endpoint', endpointId)) return refuse(socket, 404);
      const [, text = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
      const ticket = readTicket(box, text, endpointId, Date.now());
      if (!ticket) return refuse(socket, 401);
      const endpoint = await endpoints.getFresh(ticket.account_id, endpointId);
      if (!endpoint?.listener) return refuse(socket, 404);
      sockets.handleUpgrade(request, socket, head, (connection) => {
        streams.open(ticket, connection).catch((error: unknown) => {
          logger.warn(
            { err: error, endpoint_id: endpointId },
            'the stream of a listener could not be opened',
          );
          connection.close(1_011);
        });
      });
    } catch (error) {
      logger.warn({ err: error }, 'the stream of a listener could not be opened');
      refuse(socket, 503);
    }
  };
}

/** The connection ends with the answer, also if the other side keeps its half open: nobody else would end it. */
function refuse(socket: Duplex, status: 401 | 404 | 503): void {
  socket.once('finish', () => socket.destroy());
  const challenge = status === 401 ? 'www-authenticate: Bearer realm="hookline"\r\n' : '';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${challenge}connection: close\r\ncontent-length: 0\r\n\r\n`,
  );
}
