import type { AttemptObserver } from '../../../../activities/delivery/attempt-delivery.js';
import type { ListenerStreams } from '../../../api/listeners/streams.js';
import type { Closing } from '../../../domain/stats/closing.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { RunningWorker } from '../../../temporal/server/worker.js';
import { createAttempts } from '../attempts.js';
import { keepMinutes } from '../counts/minutes.js';
import { keepTallies } from '../counts/tallies.js';
import { keepUsage } from '../counts/usage.js';
import { createListenerExchange } from '../listeners/listener-exchange.js';
import { createLogWatch, createTeller } from '../log/log-watch.js';
import { parseWitnesses } from '../log/witnesses.js';
import { createLogWriter } from '../log/writer.js';
import { keepNumbersAudited } from '../sequence/number-audit.js';
import { createScheduledSender } from '../sequence/send-scheduled.js';
import { createAlerts } from '../watch/alerts.js';
import { runWorker } from '../worker.js';
import type { Intake } from './intake.js';
import type { ProcessParts } from './process-parts.js';

/** Parts of a process that makes attempts and runs workflows. */
export type Work = Awaited<ReturnType<typeof createWork>>;

/** @param streams of listeners that are connected to this process, if it serves the API */
export async function createWork(parts: ProcessParts, streams?: ListenerStreams) {
  const { settings, servers, logger, knowledge, registry, stops, writes, metrics, tracing } = parts;
  const timings = settings.HOOKLINE_TEST_TIME_SCALE;
  const minutes = keepMinutes(servers.database.minutes, logger, timings);
  writes.add(() => minutes.stop());
  const observer: AttemptObserver = {
    attempted(request, report) {
      metrics.attempted(request, report);
      minutes.attempted(request, report);
    },
    altered: ({ id, how }) => void tell('event_altered', `the event ${id}`, how),
  };
  const listenerExchange = createListenerExchange(settings, servers, streams);
  const { addressPolicy, ownPorts } = parts;
  const attempts = await createAttempts(settings, servers, {
    ...{ ...knowledge, observer, tracing, addressPolicy, listenerExchange, ownPorts },
  });
  stops.add(() => attempts.poster.close());
  const tallies = keepTallies(servers.database.tallies, logger, timings);
  writes.add(() => tallies.stop());
  const closed = (closings: readonly Closing[]) => {
    metrics.closed(closings);
    tracing?.closed(closings);
    for (const closing of closings) tallies.tally.add(closing, sharedNow());
  };
  const alerts = await createAlerts(settings, servers, attempts.poster, registry);
  const witnesses = parseWitnesses(settings.HOOKLINE_LOG_WITNESSES);
  const logWatch = createLogWatch(logger, registry, alerts.raiser, witnesses);
  const tell = createTeller(logWatch);
  return { ...attempts, alerts, logWatch, closed };
}

/** Runs the worker, which loads the workflows in a thread of its own. */
export function startWork(
  { settings, servers, logger, bundlePath, works }: ProcessParts,
  { poster, attempt, earlyAttempts, alerts, logWatch, closed }: Work,
  { starter, ledger, restores, numbers }: Intake,
): Promise<RunningWorker> {
  const ports = {
    ...{ poster, attempt, earlyAttempts, ...alerts },
    log: createLogWriter(settings, servers, logWatch, restores),
    sendScheduled: createScheduledSender(servers, starter, numbers),
  };
  const worker = runWorker(settings, servers, ports, ledger, bundlePath, closed);
  works.add(async () => (await worker.catch(() => undefined))?.stop());
  works.add(() => earlyAttempts.stop());
  works.add(keepUsage(servers.database.usage, logger));
  works.add(keepNumbersAudited(servers, logWatch, logger));
  return worker;
}
