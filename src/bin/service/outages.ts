import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** How often a server that is out of reach is asked whether it is back, milliseconds. */
const CHECK_INTERVAL_MS = 1_000;

/** A server that may be out of reach. */
export interface WatchedServer {
  name: string;
  /** Whether an error means that. */
  isUnavailable(error: unknown): boolean;
  /** Resolves if it answers. */
  check(): Promise<void>;
}

/**
 * Recognizes errors of servers that are out of reach, and logs an outage instead of each error: one line when it is noticed, one when
 * it is over.
 */
export class Outages {
  private readonly servers: readonly WatchedServer[];
  private readonly logger: Logger;
  private readonly under = new Set<WatchedServer>();
  private readonly stopping = new AbortController();

  constructor(servers: readonly WatchedServer[], logger: Logger) {
    this.servers = servers;
    this.logger = logger;
  }

  /** Whether an error means that a server is out of reach for the moment. */
  recognize(error: unknown): boolean {
    const server = this.servers.find((one) => one.isUnavailable(error));
    if (server) this.note(server.name, error);
    return server !== undefined;
  }

  /** Notes that a server was found to be out of reach. */
  note(name: string, error: unknown): void {
    const server = this.servers.find((one) => one.name === name);
    if (server && !this.under.has(server)) void this.watch(server, error);
  }

  stop(): void {
    this.stopping.abort();
  }

  private async watch(server: WatchedServer, error: unknown): Promise<void> {
    const { signal } = this.stopping;
    const began = Date.now();
    this.under.add(server);
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.error(
      { reason },
      `${server.name} does not answer: requests that need it are answered with 503`,
    );
    while (!signal.aborted) {
      await delay(CHECK_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => {});
      const isBack = await server.check().then(
        () => true,
        () => false,
      );
      if (!isBack) continue;
      this.under.delete(server);
      this.logger.info({ outage_ms: Date.now() - began }, `${server.name} answers again`);
      return;
    }
  }
}
