import { chmodSync, closeSync, fstatSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedStartError } from '../errors.js';
import type { Report } from '../types.js';
import { type GuardedProcess, startGuarded } from './guarded-process.js';
import { makePrivateFolder, openPrivateFile } from './private-folder.js';

/** A log that has grown beyond this many bytes is set aside, as `<name>.1`, before the next start. */
const LOG_LIMIT = 10 * 1024 * 1024;
const START_LIMIT_MS = 60_000;
const POLL_MS = 50;

/** What {@link startServer} runs. */
export interface ServerCommand {
  /** Name for messages. */
  service: string;
  binary: string;
  args: readonly string[];
  /** File that receives everything the server prints, appended. */
  logFile: string;
  /** Resolves once the server answers, rejects while it does not; asked again until it resolves. */
  probe(): Promise<void>;
  /** Receives a line if the server ends later without being told to. */
  report: Report;
}

/** A server that answers. */
export interface Server {
  /** Stops it and waits until it has ended; may be called again. */
  stop(): Promise<void>;
}

/**
 * Starts a server and waits until it answers, for at most a minute.
 *
 * @throws {@link EmbeddedStartError} with the last lines of its log, when it ends or stays silent instead
 */
export async function startServer(command: ServerCommand): Promise<Server> {
  const { service, binary, args, logFile, report } = command;
  const log = openLog(logFile);
  const server = startGuarded(binary, args, { output: log.fd });
  closeSync(log.fd);
  try {
    await untilReady(server, command.probe);
  } catch (cause) {
    await server.stop();
    const tail = readFileSync(logFile).subarray(log.size).toString().trimEnd().split('\n').slice(-10);
    const message = `${service} (${binary}) ${(cause as Error).message}. The end of ${logFile}:\n${tail.join('\n')}`;
    throw new EmbeddedStartError(message, { cause });
  }

  let stopping = false;
  void server.exited.then((status) => {
    if (!stopping) report(`${service}: ended by itself, with ${inWords(status)}; its log is ${logFile}.`);
  });
  return {
    stop() {
      stopping = true;
      return server.stop();
    },
  };
}

function inWords(status: number | null): string {
  return status === null ? 'a signal' : `status ${status}`;
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
        throw new Error(`did not answer within ${START_LIMIT_MS / 1000} s`, { cause: error });
      }
    }
    await Promise.race([delay(POLL_MS), ended]);
  }
}
