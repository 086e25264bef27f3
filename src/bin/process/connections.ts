import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How long what is under way on connections may take once their server stops, milliseconds. */
export interface ConnectionLimits {
  /** For the rest of a request that has begun to arrive. */
  requestMs: number;
  /** For a response, until the client has taken it; and for a connection that has become a WebSocket. */
  responseMs: number;
}

/**
 * The connections of a server, to end them. Node.js does not count those as idle that have sent no request yet, such as
 * a balancer opens in advance, and waits for as long as a client keeps a request or a response back.
 */
export class Connections {
  private readonly server: Server;
  /** Responses under way, by connection: none on one that is idle, or whose request is not at its body yet. */
  private readonly responses = new Map<Duplex, Set<ServerResponse>>();
  /** Those that speak another protocol by now. */
  private readonly upgraded = new WeakSet<Duplex>();
  private isRetiring = false;
  private isEnding = false;

  constructor(server: Server) {
    this.server = server;
    server.on('connection', (socket: Socket) => {
      this.responses.set(socket, new Set());
      socket.once('close', () => this.responses.delete(socket));
    });
    server.on('request', (_request, response) => this.note(response));
  }

  /** Leaves a connection to the code that speaks its new protocol. */
  leave(socket: Duplex): void {
    this.upgraded.add(socket);
  }

  /** Each ends with its next response from now on. */
  retire(): void {
    this.isRetiring = true;
    for (const response of this.underWay()) announceEnd(response);
  }

  /**
   * Closes the server, and resolves when it has no connection any more: those without a request end at once, the others
   * with their response or at their limit.
   */
  async end({ requestMs, responseMs }: ConnectionLimits): Promise<void> {
    this.isEnding = true;
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.retire();
    this.keep((responses) => responses.size > 0);
    const timers = [
      setTimeout(() => this.keep((responses) => [...responses].every(({ req }) => req.complete)), requestMs),
      setTimeout(() => {
        for (const socket of this.responses.keys()) socket.destroy();
      }, responseMs),
    ];
    await closed;
    for (const timer of timers) clearTimeout(timer);
  }

  private note(response: ServerResponse): void {
    const { socket } = response.req;
    const responses = this.responses.get(socket);
    responses?.add(response);
    if (this.isRetiring) announceEnd(response);
    response.once('close', () => {
      responses?.delete(response);
      // Its headers may have promised before that the connection stays.
      if (this.isEnding && responses?.size === 0) socket.destroySoon();
    });
  }

  private *underWay(): Generator<ServerResponse> {
    for (const responses of this.responses.values()) yield* responses;
  }

  /** Ends the other connections, except those of another protocol. */
  private keep(mayStay: (responses: ReadonlySet<ServerResponse>) => boolean): void {
    for (const [socket, responses] of this.responses)
      if (!this.upgraded.has(socket) && !mayStay(responses)) socket.destroy();
  }
}

/** Tells the client that the connection ends with this response, if that can still be told. */
function announceEnd(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('connection', 'close');
}
