import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** How often a server that is out of reach is asked whether it is back, milliseconds. */
const CHECK_INTERVAL_MS = 1_000;
/**
 * An outage is over when the server answers and nothing has failed by it for so long, milliseconds: a server that has lost its majority, or is
 * about to be replaced, answers what is asked of it here and rejects what matters.
 */
const QUIET_MS = 5_000;

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
  private readonly waits: { checkMs: number; quietMs: number };
  /** Those that are out of reach, with when something failed last. */
  private readonly under = new Map<WatchedServer, number>();
  private readonly stopping = new AbortController();

  constructor(
    servers: readonly WatchedServer[],
    logger: Logger,
    waits = { checkMs: CHECK_INTERVAL_MS, quietMs: QUIET_MS },
  ) {
    this.servers = servers;
    this.logger = logger;
    this.waits = waits;
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
    if (!server) return;
    const isNew = !this.under.has(server);
    this.under.set(server, Date.now());
    if (isNew) void this.watch(server, error);
  }

  stop(): void {
    this.stopping.abort();
  }

  private async watch(server: WatchedServer, error: unknown): Promise<void> {
    const { signal } = this.stopping;
    const began = Date.now();
    const reason = error instanceof Error ? error.message : String(error);
    this.logger.error(
      { reason },
      `${server.name} does not answer, or refuses: requests that need it are answered with 503`,
    );
    while (!signal.aborted) {
      await delay(this.waits.checkMs, undefined, { signal, ref: false }).catch(() => {});
      const isBack = await server.check().then(
        () => true,
        () => false,
      );
      const failedAt = this.under.get(server) ?? began;
      if (!isBack) this.under.set(server, Date.now());
      else if (Date.now() - failedAt >= this.waits.quietMs) {
        this.under.delete(server);
        this.logger.info({ outage_ms: failedAt - began }, `${server.name} answers again`);
        return;
      }
    }
  }
}
