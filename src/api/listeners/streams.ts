import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { roomFor } from '../../domain/basics/bounded-memory.js';
import type { EndpointKey } from '../../domain/endpoint/endpoint-key.js';
import { disconnected, type ListenerRequest, type ListenerResult } from '../../domain/listener/listener.js';
import { StreamBudget } from '../../domain/listener/stream-budget.js';
import { TIMINGS, type Timings } from '../../domain/timings.js';
import type { EndpointRepository } from '../../models/endpoint/endpoints.js';
import type { ListenerRepository } from '../../models/endpoint/listeners.js';
import { ListenerStream } from './stream.js';
import type { Ticket } from './tickets.js';

export interface ListenerStreamsOptions {
  listeners: ListenerRepository;
  endpoints: EndpointRepository;
  /** Whether the token that a ticket was given to still allows its stream. */
  allows(ticket: Ticket): Promise<boolean>;
  /** Sends again what failed while nobody was connected. */
  release(endpoint: EndpointKey): Promise<void>;
  logger: Logger;
  /** Absent: as usual. */
  timings?: Timings;
}

interface HeldStream extends Ticket {
  session: string;
  stream: ListenerStream;
}

/** The streams that this process holds. Other processes find them by {@link ListenerRepository}. */
export class ListenerStreams {
  private readonly options: ListenerStreamsOptions;
  private readonly held = new Map<string, HeldStream>();
  /** Budgets by account. An account that reconnects keeps its budget. */
  private readonly budgets = new LRUCache<string, StreamBudget>({
    ...roomFor(10_000),
    memoMethod: () => new StreamBudget(),
  });
  private readonly renewals: NodeJS.Timeout;
  private isStopping = false;
  private nodeUrl = '';

  constructor(options: ListenerStreamsOptions) {
    this.options = options;
    const { listener_renewal_ms } = options.timings ?? TIMINGS;
    this.renewals = setInterval(() => void this.renewAll(), listener_renewal_ms);
  }

  /** @param nodeUrl where other processes reach this one */
  serveAt(nodeUrl: string): void {
    this.nodeUrl = nodeUrl;
  }

  /**
   * Takes a connection for a listener; an older one of the same listener is closed.
   *
   * @param connection what carries the socket
   */
  async open(ticket: Ticket, socket: WebSocket, connection: Duplex): Promise<void> {
    const { listeners, release } = this.options;
    const { account_id, endpoint_id } = ticket;
    const stream = new ListenerStream(socket, connection, this.budgets.memo(account_id));
    if (this.isStopping) return stream.close('restart', 'the service stops');
    const held: HeldStream = { ...ticket, session: randomUUID(), stream };
    this.held.get(endpoint_id)?.stream.close('replaced', 'another program has connected to this listener');
    this.held.set(endpoint_id, held);
    void stream.ended().then(() => this.leave(held));
    await listeners.claim(account_id, endpoint_id, held.session, this.nodeUrl);
    await release({ account_id, endpoint_id });
  }

  /** @returns `undefined` if this process does not hold the listener's stream */
  exchange(endpointId: string, request: ListenerRequest): Promise<ListenerResult> | undefined {
    const held = this.held.get(endpointId);
    return held && this.exchangeOver(held, request);
  }

  /**
   * Nothing is sent to a program whose token has ended, although its stream is closed only with the next renewal at the
   * latest.
   */
  private async exchangeOver(held: HeldStream, request: ListenerRequest): Promise<ListenerResult> {
    const isAllowed = await this.endUnlessAllowed(held).catch(() => undefined);
    if (isAllowed) return held.stream.exchange(request);
    return disconnected(
      isAllowed === false
        ? 'the stream of the listener was closed: what it was opened with has ended'
        : 'whether the listener may still receive it could not be checked',
    );
  }

  private async endUnlessAllowed(held: HeldStream): Promise<boolean> {
    const isAllowed = await this.options.allows(held);
    if (!isAllowed) held.stream.close('refused', 'the key or session that opened the stream has ended');
    return isAllowed;
  }

  /** Waits for the responses that are due, then ends every stream. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.renewals);
    const all = [...this.held.values()];
    this.held.clear();
    await Promise.all(
      all.map(async (held) => {
        await held.stream.finish();
        await held.stream.ended();
        await this.leave(held);
      }),
    );
  }

  private async renewAll(): Promise<void> {
    await Promise.all([...this.held.values()].map((held) => this.renew(held)));
  }

  private async renew(held: HeldStream): Promise<void> {
    const { endpoints, listeners, logger } = this.options;
    const { account_id, endpoint_id, session, stream } = held;
    try {
      if (!(await this.endUnlessAllowed(held))) return;
      if (!(await endpoints.getFresh(account_id, endpoint_id))) {
        await listeners.remove(endpoint_id);
        stream.close('deleted', 'the listener was deleted');
      } else if (!(await listeners.renew(endpoint_id, session)))
        stream.close('replaced', 'another program has connected to this listener');
    } catch (error) {
      // An outage of MongoDB: the next round renews it, or the lease ends and the program connects again.
      logger.debug({ err: error, endpoint_id }, 'the stream of a listener could not be renewed');
    }
  }

  private async leave(held: HeldStream): Promise<void> {
    const { listeners, logger } = this.options;
    if (this.held.get(held.endpoint_id) === held) this.held.delete(held.endpoint_id);
    await listeners
      .leave(held.endpoint_id, held.session)
      .catch((error: unknown) => logger.debug({ err: error }, 'the end of a stream could not be recorded'));
  }
}
