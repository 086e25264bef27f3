import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { sharedNow } from '../../domain/time/shared-time.js';

/** How often a server that is out of reach is asked whether it is back, milliseconds. */
const CHECK_INTERVAL_MS = 1_000;
/**
 * An outage is over when the server answers and nothing has failed by it for so long, milliseconds: a server that has
 * lost its majority, or is about to be replaced, answers what is asked of it here and rejects what matters.
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
 * Recognizes errors of servers that are out of reach, and logs an outage instead of each error: one line when it is
 * noticed, one when it is over.
 */
export function createOutages(
  servers: readonly WatchedServer[],
  logger: Logger,
  { checkMs, quietMs } = { checkMs: CHECK_INTERVAL_MS, quietMs: QUIET_MS },
) {
  /** Those that are out of reach, with when something failed last. */
  const under = new Map<WatchedServer, number>();
  const stopping = new AbortController();

  const watch = async (server: WatchedServer, error: unknown): Promise<void> => {
    const { signal } = stopping;
    const began = sharedNow();
    const reason = error instanceof Error ? error.message : String(error);
    logger.error({ reason }, `${server.name} does not respond, or refuses: requests that need it get 503`);
    while (!signal.aborted) {
      await delay(checkMs, undefined, { signal, ref: false }).catch(() => {});
      const isBack = await server.check().then(
        () => true,
        () => false,
      );
      const failedAt = under.get(server) ?? began;
      if (!isBack) under.set(server, sharedNow());
      else if (sharedNow() - failedAt >= quietMs) {
        under.delete(server);
        logger.info({ outage_ms: failedAt - began }, `${server.name} responds again`);
        return;
      }
    }
  };

  /** Notes that a server was found to be out of reach. */
  const note = (server: WatchedServer, error: unknown): void => {
    const isNew = !under.has(server);
    under.set(server, sharedNow());
    if (isNew) void watch(server, error);
  };

  return {
    note,
    /** Whether an error means that a server is out of reach for the moment. */
    recognize(error: unknown): boolean {
      const server = servers.find((one) => one.isUnavailable(error));
      if (server) note(server, error);
      return server !== undefined;
    },
    stop: () => stopping.abort(),
  };
}
