import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { WebSocketServer } from 'ws';
import type { Settings } from '../../config/schema.js';
import type { SecretBox } from '../../domain/access/secret-box.js';
import { isId } from '../../domain/basics/ids.js';
import { STREAM_PROTOCOL } from '../../domain/listener/listener.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { Database } from '../../models/database.js';
import { addressKey, tokenKey } from '../limits/limit-rate.js';
import type { Limiters } from '../limits/limiters.js';
import { anonymous } from '../limits/rate-limiter.js';
import type { ListenerStreams } from './streams.js';
import { ticketHolder } from './ticket-holder.js';
import { readTicket } from './tickets.js';

export interface UpgradeOptions {
  streams: ListenerStreams;
  database: Database;
  /** Limits of all requests: requests for streams pass no middleware. */
  limiters: Limiters;
  /** The caller's address, as for every request. */
  addressOf(request: IncomingMessage): string;
  box: SecretBox;
  settings: Settings;
  logger: Logger;
}

/**
 * Answers `GET /v18.0/listeners/{id}/stream`, which becomes a WebSocket if the ticket in `Authorization: Bearer` allows
 * it, once.
 */
export function createUpgrade(options: UpgradeOptions) {
  const { streams, database, limiters, addressOf, box, settings, logger } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    // The most bytes of one message: a response of 16 KiB, its headers, and what JSON adds.
    maxPayload: 512 * 1024,
    // Into how many frames a program may cut it.
    maxFragments: 256,
    autoPong: false,
    handleProtocols: (offered) => (offered.has(STREAM_PROTOCOL) ? STREAM_PROTOCOL : false),
  });
  return async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    socket.on('error', () => socket.destroy());
    /** Without a ticket: who guesses them, or asks for what is not there, is counted. */
    const refuseStranger = (status: 401 | 404) => {
      const { refusal, headers } = limiters.address.consume(anonymous(addressKey(addressOf(request))));
      if (refusal) refuse(socket, 429, { ...headers, ...refusal.headers });
      else refuse(socket, status, headers);
    };
    let uncount: (() => void) | undefined;
    try {
      const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
      const [, endpointId = ''] = /^\/v\d+\.\d+\/listeners\/(\w+)\/stream$/.exec(pathname) ?? [];
      if (!isId('endpoint', endpointId)) return refuseStranger(404);
      const [, text = ''] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
      const ticket = readTicket(box, text, endpointId, sharedNow());
      const holder = ticket && (await ticketHolder({ database, settings, logger }, ticket));
      if (!holder) return refuseStranger(401);
      const perMinute = holder.account?.limits.requests_per_minute;
      const verdict = limiters.token.consume(tokenKey(holder.caller), sharedNow(), perMinute);
      const { refusal, headers } = verdict;
      uncount = verdict.giveBack;
      if (refusal) return refuse(socket, 429, { ...headers, ...refusal.headers });
      const endpoint = await database.endpoints.getFresh(ticket.account_id, endpointId);
      if (!endpoint?.listener) return refuse(socket, 404, headers);
      if (!(await database.usedTickets.use(ticket.id))) return refuse(socket, 401, headers);
      sockets.handleUpgrade(request, socket, head, (connection) => {
        streams.open(ticket, connection, socket).catch((error: unknown) => {
          logger.warn(
            { err: error, endpoint_id: endpointId },
            'the stream of a listener could not be opened',
          );
          connection.close(1_011);
        });
      });
    } catch (error) {
      uncount?.();
      logger.warn({ err: error }, 'the stream of a listener could not be opened');
      refuse(socket, 503);
    }
  };
}

/** The connection ends with the response, also if the other side keeps its half open: nobody else would end it. */
function refuse(socket: Duplex, status: 401 | 404 | 429 | 503, headers: Record<string, string> = {}): void {
  socket.once('finish', () => socket.destroy());
  const lines = Object.entries({
    ...(status === 401 && { 'www-authenticate': 'Bearer realm="hookline"' }),
    ...headers,
    connection: 'close',
    'content-length': '0',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`);
}
