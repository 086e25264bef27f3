import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Development } from '../../../api/http/context.js';
import type { Settings } from '../../../config/schema.js';
import { withTimeout } from '../../../domain/basics/with-timeout.js';
import { followTemporalTime } from '../../../temporal/server/server-time.js';
import { createDeliveryMetrics } from '../counts/attempt-metrics.js';
import { createVisibilityMetrics } from '../counts/call-metrics.js';
import { addressPolicyOf, portsOf } from '../egress.js';
import { createKnowledge } from '../ledger.js';
import type { Servers } from '../servers.js';
import { Stops, stopLimits } from '../stops.js';
import { watchClocks } from '../watch/clock-watch.js';
import { startTracing } from '../watch/tracing.js';

/** Parts of a process, whatever its role. */
export type ProcessParts = Awaited<ReturnType<typeof createProcessParts>>;

/** Inputs of a process. */
export interface ProcessInputs {
  settings: Settings;
  servers: Servers;
  logger: Logger;
  /** The workflows to run. */
  bundlePath: string;
  development: Development | undefined;
}

/** @param stops of the process; its other parts add theirs behind these, so they stop before them */
export async function createProcessParts(inputs: ProcessInputs, stops: Stops) {
  const { settings, servers, logger } = inputs;
  const { lastWritesMs } = stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT);
  const knowledge = createKnowledge(settings, servers);
  /** Counts, and what else is left to be written at the end. */
  const writes = new Stops();
  stops.add(() =>
    withTimeout(lastWritesMs, writes.runTogether()).catch((error: unknown) =>
      logger.warn({ err: error }, 'Counts, and what else was left to be written, were dropped.'),
    ),
  );
  writes.add(() => knowledge.incidents.stop());
  const registry = new Registry();
  const clocks = watchClocks(registry, logger);
  stops.add(() => clocks.stop());
  // Nobody waits for it: Temporal's clock is known at the latest when the first activity comes.
  stops.add(followTemporalTime(servers.temporal.client, settings.HOOKLINE_TASK_QUEUE, clocks.look));
  servers.temporal.visibility.observer = createVisibilityMetrics(registry);
  const tracing = await startTracing(settings, logger);
  writes.add(() => tracing?.stop());
  return {
    ...inputs,
    knowledge,
    registry,
    clocks,
    tracing,
    metrics: createDeliveryMetrics(registry),
    addressPolicy: addressPolicyOf(settings),
    /** Ports of the service and its servers: at this machine no endpoint may be there. */
    ownPorts: new Set(portsOf(settings)),
    /** Aborted once the process is to stop. */
    stopping: new AbortController(),
    stops,
    writes,
    /** Parts that respond to requests; they stop beside those that work. */
    serves: new Stops(),
    /** Parts that make attempts and run workflows. */
    works: new Stops(),
  };
}
