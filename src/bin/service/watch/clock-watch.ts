import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { ServerClock } from '../../../domain/time/server-clock.js';
import { mongodbClock, temporalClock } from '../../../domain/time/shared-time.js';

/** From such a difference on, milliseconds, somebody is told. */
const MAX_DIFFERENCE_MS = 2_000;
/** How often it is looked at, milliseconds. */
const LOOK_MS = 5_000;

const SERVERS = { MongoDB: mongodbClock, Temporal: temporalClock } as const;

/** Metrics of a process's clock. */

/**
 * Says how far this machine's clock is from those of MongoDB and Temporal. Nothing is early or late because of it, but
 * what people read by it is wrong, such as the log; and if the two servers differ from each other, what is compared is,
 * too.
 */
export function watchClocks(
  registry: Registry,
  logger: Pick<Logger, 'warn' | 'info'>,
  servers: Readonly<Record<string, Pick<ServerClock, 'difference'>>> = SERVERS,
) {
  new Gauge({
    name: 'hookline_clock_difference_seconds',
    help: 'How far the clock of this machine is ahead of that of a server',
    labelNames: ['server'],
    registers: [registry],
    collect() {
      for (const [server, { difference }] of Object.entries(servers))
        if (difference !== undefined) this.set({ server: server.toLowerCase() }, difference / 1_000);
    },
  });
  const told = new Set<string>();

  /** Servers whose clock is another one, with how this machine's differs. */
  const warnings = (): [server: string, warning: string][] =>
    Object.entries(servers).flatMap(([server, { difference = 0 }]): [string, string][] => {
      if (Math.abs(difference) <= MAX_DIFFERENCE_MS) return [];
      const by = `${(Math.abs(difference) / 1_000).toFixed(1)} s ${difference > 0 ? 'ahead of' : 'behind'}`;
      return [[server, `The clock of this machine is ${by} that of ${server}.`]];
    });

  /** Logs what has changed. */
  const look = (): void => {
    const found = new Map(warnings());
    for (const [server, warning] of found)
      if (!told.has(server)) logger.warn({ server }, `${warning} Set both by NTP.`);
    for (const server of told)
      if (!found.has(server))
        logger.info({ server }, `The clock of this machine is that of ${server} again.`);
    told.clear();
    for (const server of found.keys()) told.add(server);
  };
  const timer = setInterval(look, LOOK_MS).unref();

  return {
    look,
    /** Sentences for `/readyz`. */
    warnings: () => warnings().map(([, warning]) => warning),
    stop: () => clearInterval(timer),
  };
}
