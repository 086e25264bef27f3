import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { type ListenerRequest, type ListenerResult, RENEW_MS } from '../../domain/listener/listener.js';
import type { EndpointRepository } from '../../models/endpoint/endpoints.js';
import type { ListenerRepository } from '../../models/endpoint/listeners.js';
import { ListenerStream } from './stream.js';

/** An endpoint of an account. */
interface Key {
  account_id: string;
  endpoint_id: string;
}

export interface ListenerStreamsOptions {
  listeners: ListenerRepository;
  endpoints: EndpointRepository;
  /** Sends again what failed while nobody was connected. */
  release(endpoint: Key): Promise<void>;
  logger: Logger;
  /** How often it is renewed that this process holds a stream, milliseconds. */
  renewMs?: number;
}

interface Held extends Key {
  session: string;
  stream: ListenerStream;
}

/** The streams that this process holds. Other processes find them by {@link ListenerRepository}. */
export class ListenerStreams {
  private readonly options: ListenerStreamsOptions;
  private readonly held = new Map<string, Held>();
  private readonly renewals: NodeJS.Timeout;
  private isStopping = false;
  private nodeUrl = '';

  constructor(options: ListenerStreamsOptions) {
    this.options = options;
    this.renewals = setInterval(() => void this.renewAll(), options.renewMs ?? RENEW_MS);
  }

  /** @param nodeUrl where other processes reach this one */
  serveAt(nodeUrl: string): void {
    this.nodeUrl = nodeUrl;
  }

  /** Takes a connection for a listener; an older one of the same listener is closed. */
  async open(endpoint: Key, socket: WebSocket): Promise<void> {
    const { listeners, release } = this.options;
    const { account_id, endpoint_id } = endpoint;
    const stream = new ListenerStream(socket);
    if (this.isStopping) return stream.close('restart', 'the service stops');
    const held: Held = { ...endpoint, session: randomUUID(), stream };
    this.held.get(endpoint_id)?.stream.close('replaced', 'another program has connected to this listener');
    this.held.set(endpoint_id, held);
    void stream.ended().then(() => this.leave(held));
    await listeners.claim(account_id, endpoint_id, held.session, this.nodeUrl);
    await release(endpoint);
  }

  /** @returns `undefined` if this process does not hold the listener's stream */
  exchange(endpointId: string, request: ListenerRequest): Promise<ListenerResult> | undefined {
    return this.held.get(endpointId)?.stream.exchange(request);
  }

  /** Waits for the answers that are due, then ends every stream. */
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

  private async renew({ account_id, endpoint_id, session, stream }: Held): Promise<void> {
    const { endpoints, listeners, logger } = this.options;
    try {
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

  private async leave(held: Held): Promise<void> {
    const { listeners, logger } = this.options;
    if (this.held.get(held.endpoint_id) === held) this.held.delete(held.endpoint_id);
    await listeners
      .leave(held.endpoint_id, held.session)
      .catch((error: unknown) => logger.debug({ err: error }, 'the end of a stream could not be recorded'));
  }
}
