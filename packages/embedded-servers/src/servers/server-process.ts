import { chmodSync, closeSync, fstatSync, readFileSync, renameSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { childEnvironment } from '../child-environment.js';
import { EmbeddedStartError } from '../errors.js';
import type { Report } from '../types.js';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import { makePrivateFolder, openPrivateFile } from './private-folder.js';

/** A log that has grown beyond this many bytes is set aside, as `<name>.1`, before the next start. */
const LOG_LIMIT = 10 * 1024 * 1024;
const START_LIMIT_MS = 60_000;
const POLL_MS = 50;

/**
 * Environment of a server whose data are thrown away: written in Go, it collects garbage less often, as it does not run
 * for long.
 */
export const THROW_AWAY_SERVER = { GOGC: '400' };

/** How the memory and the threads of a program written in Go are set. */
const OF_GO = ['GOGC', 'GOMEMLIMIT', 'GOMAXPROCS', 'GODEBUG'];

/** Command that {@link startServer} runs. */
export interface ServerCommand {
  /** Name for messages. */
  service: string;
  binary: string;
  args: readonly string[];
  /** File that receives everything the server prints, appended. */
  logFile: string;
  /** Resolves once the server answers, rejects while it does not; asked again until it resolves. */
  probe(): Promise<void>;
  /** Receives a line for each thing that happens to the server later without its being told to. */
  report: Report;
  /** Whether a server that ends by itself is started again, once. */
  restart: boolean;
  /** Time to finish after SIGTERM, milliseconds. Default: that of {@link startGuarded}. */
  graceMs?: number;
  /** Beside what `childEnvironment` lets through. */
  env?: Readonly<Record<string, string>>;
  /** Ends the start, and nothing later. */
  signal?: AbortSignal | undefined;
}

/** A server that answers. */
export interface Server {
  /** Rejects when the server has ended by itself, and is not started again or did not start again. */
  failed: Promise<never>;
  /** Stops it and waits until it has ended; may be called again. */
  stop(): Promise<void>;
}

/**
 * Starts a server and waits until it answers, for at most a minute.
 *
 * @throws {@link EmbeddedStartError} with the last lines of its log, when it ends or stays silent instead
 */
export async function startServer(command: ServerCommand): Promise<Server> {
  const stopped = new AbortController();
  let running = await launch(command, command.signal);
  const watching = (async () => {
    for (let mayRestart = command.restart; ; mayRestart = false) {
      const what = `${command.service}: ${howItEnded(running, await running.exited)}; its log is ${command.logFile}.`;
      if (stopped.signal.aborted) return;
      if (!mayRestart) {
        command.report(what);
        throw new EmbeddedStartError(what);
      }
      command.report(`${what} Starting it again with its data.`);
      running = await launch(command, stopped.signal);
      if (stopped.signal.aborted) await running.stop();
      command.report(`${command.service}: responds again.`);
    }
  })();
  const failed = watching.then(() => new Promise<never>(() => {}));
  failed.catch(() => {}); // not everybody who starts a server asks
  return {
    failed,
    async stop() {
      stopped.abort();
      await running.stop();
      await watching.catch(() => {});
    },
  };
}

async function launch(command: ServerCommand, signal: AbortSignal | undefined): Promise<GuardedProcess> {
  const { service, binary, args, logFile, graceMs, env } = command;
  signal?.throwIfAborted();
  const log = openLog(logFile);
  // The owner of a server that has started stops it when nothing needs it any more.
  const starting = new AbortController();
  const end = () => starting.abort();
  signal?.addEventListener('abort', end);
  const server = startGuarded(binary, args, {
    output: log.fd,
    env: { ...childEnvironment(OF_GO), ...env },
    signal: starting.signal,
    graceMs,
  });
  closeSync(log.fd);
  try {
    await untilReady(server, command.probe);
    return server;
  } catch (cause) {
    await server.stop();
    signal?.throwIfAborted();
    const tail = readFileSync(logFile).subarray(log.size).toString().trimEnd().split('\n').slice(-10);
    const message = `${service} (${binary}) ${(cause as Error).message}. The end of ${logFile}:\n${tail.join('\n')}`;
    throw new EmbeddedStartError(message, { cause });
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/** A shell passes on the end of a program by a signal as 128 and its number. */
function inWords(status: number | null): string {
  const name = Object.entries(constants.signals).find(([, number]) => number + 128 === status)?.[0];
  return name ?? (status === null ? 'a signal' : `status ${status}`);
}

/**
 * The guard is not the server: it may be killed while the server is well, which is then stopped for want of a guard.
 */
function howItEnded(server: GuardedProcess, status: number | null): string {
  const signal = server.guardKilledBy();
  return signal
    ? `the shell that guards it was killed (${signal}), so it was stopped`
    : `ended by itself, with ${inWords(status)}`;
}

function openLog(file: string): { fd: number; size: number } {
  makePrivateFolder(dirname(file));
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_LIMIT) {
    chmodSync(file, 0o600);
    renameSync(file, `${file}.1`);
  }
  const fd = openPrivateFile(file);
  return { fd, size: fstatSync(fd).size };
}

async function untilReady(server: GuardedProcess, probe: () => Promise<void>): Promise<void> {
  const ended = server.exited.then((status) => {
    throw new Error(`ended while starting, with ${inWords(status)}`);
  });
  ended.catch(() => {}); // after the start nobody waits for it any more
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    try {
      await Promise.race([probe(), ended]);
      return;
    } catch (error) {
      if (server.child.exitCode !== null || server.child.signalCode !== null) await ended;
      if (Date.now() > deadline) {
        throw new Error(`did not respond within ${START_LIMIT_MS / 1000} s`, { cause: error });
      }
    }
    await Promise.race([delay(POLL_MS), ended]);
  }
}
