import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * How much a heap may grow before it is collected, per cent of what was in use after the last time. V8 lets it grow up
 * to fourfold.
 */
const GROWTH_PERCENT = 40;

const INTERVAL_MS = 5_000;
/**
 * The share of the time for which the event loop has work: a process that had more was busy, one that has less is idle.
 */
const BUSY = 0.2;
const IDLE = 0.05;

/**
 * Keeps the heaps of a process that runs the service small, that of its workflows as well
 * (`docs/decisions/what-was-tried.md`).
 */
export function keepHeapsSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  collectWhenIdle();
}

/**
 * Collects garbage once whenever a busy time is over. V8 by itself does so when it allocates again, so a service that
 * has been busy would keep its largest heap for as long as it is idle: about 100 MB.
 *
 * @returns ends it
 */
export function collectWhenIdle(collect = exposedGc(), intervalMs = INTERVAL_MS): () => void {
  let before = performance.eventLoopUtilization();
  const busyTimeIsOver = busyTimes();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (busyTimeIsOver(utilization)) collect();
  }, intervalMs).unref();
  return () => clearInterval(timer);
}

/** @returns told the utilization of each interval, says whether it is the first idle one after a busy one */
export function busyTimes(): (utilization: number) => boolean {
  let wasBusy = false;
  return (utilization) => {
    const over = wasBusy && utilization < IDLE;
    wasBusy = utilization > BUSY || (wasBusy && !over);
    return over;
  };
}

/** V8's own function, without the command line flag that usually exposes it. */
export function exposedGc(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
