import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type GuardedProcess, startGuarded } from '../../../packages/embedded-servers/src/index.js';
import { until } from '../../support/until.js';

/** The command line as it is built, from `dist/bench/chaos/world`. */
const HOOKLINE = fileURLToPath(new URL('../../../bin/hookline.js', import.meta.url));
/** From its start until a process serves, on a machine that is busy. Milliseconds. */
const READY_LIMIT_MS = 180_000;
const ASK_EVERY_MS = 100;
/** A process that ended by itself is started again after this, as a supervisor would. Milliseconds. */
const RESTART_MS = 500;

/** A Hookline process, which can be killed and started again. It ends with the runner, however that ends. */
export interface ChaosNode {
  readonly url: string;
  /** The shell that guards it, of which it is the child; undefined while it does not run. */
  readonly guardPid: number | undefined;
  /** How often it ended without being told to. */
  readonly ended: number;
  /** Starts it. @param more of its environment, until it ends */
  start(more?: Record<string, string>): void;
  /** Whether it says that it is ready. */
  isReady(): Promise<boolean>;
  /** Waits until it is. @throws where that takes too long */
  ready(): Promise<void>;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Tells it to stop, and waits. */
  stop(): Promise<void>;
}

/**
 * @param port where it listens
 * @param logFile takes what it writes
 */
export function chaosNode(environment: Record<string, string>, port: number, logFile: string): ChaosNode {
  const url = `http://127.0.0.1:${port}`;
  let running: GuardedProcess | undefined;
  let isWanted = false;
  let ended = 0;
  const isReady = () =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );
  const start = (more: Record<string, string> = {}) => {
    isWanted = true;
    if (running) return;
    const log = openSync(logFile, 'a');
    const started = startGuarded(process.execPath, [HOOKLINE, 'serve'], {
      output: log,
      graceMs: 20_000,
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        MALLOC_ARENA_MAX: '2',
        ...environment,
        ...more,
        HOOKLINE_PORT: String(port),
      },
    });
    closeSync(log);
    running = started;
    void started.exited.then(async () => {
      running = undefined;
      if (!isWanted) return;
      ended += 1;
      await delay(RESTART_MS);
      if (isWanted) start();
    });
  };
  return {
    url,
    get guardPid() {
      return running?.child.pid;
    },
    get ended() {
      return ended;
    },
    start,
    isReady,
    ready: () => until(isReady, READY_LIMIT_MS, ASK_EVERY_MS),
    async signal(signal) {
      const { child, exited } = running ?? {};
      if (!child?.pid) return;
      if (signal === 'SIGKILL') isWanted = false;
      // The guard and the process are one group.
      process.kill(-child.pid, signal);
      if (signal === 'SIGKILL') await exited;
    },
    async stop() {
      isWanted = false;
      await running?.stop();
    },
  };
}
