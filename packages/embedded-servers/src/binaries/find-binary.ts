import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../child-environment.js';
import { EmbeddedUnavailableError, oneLine } from '../errors.js';
import type { How, Report } from '../types.js';

/** One way to get a server's binary. */
export interface Way {
  how: How;
  /** Name of the binary, to follow "starting": `the temporal on PATH`. */
  name: string;
  /** The binary if it is already on this machine; never asks the network. */
  kept(): Promise<string | undefined>;
  /** Said when it is not: `no temporal on PATH`. */
  absent: string;
  /** How to get it, where it can be got. */
  make?: {
    /** `downloading the official release`. */
    doing: string;
    /** Begins the reason when it fails: `the download`. */
    noun: string;
    /** Why it need not be tried, where that is known beforehand: `no go on PATH`. */
    impossible?(): Promise<string | undefined>;
    /**
     * Gets the binary, unless it is aborted; a rejection is the reason it could not.
     *
     * @param report receives the progress, where it takes long
     */
    run(report: Report, signal?: AbortSignal): Promise<string>;
  };
}

/** A command on PATH. */
export function pathWay(command: string): Way {
  return {
    how: 'path',
    name: `the ${command} on PATH`,
    kept: () => onPath(command),
    absent: `no ${command} on PATH`,
  };
}

/** A binary and where it came from. */
export interface Found {
  how: How;
  binary: string;
}

/**
 * Takes the first way that gives a binary that runs. Programs that are already on the machine come first, in the order
 * of the ways; only then are they asked, in the same order, to make one. So a second start waits for no network.
 *
 * @param service - name for messages
 * @param notConfigured - why the configured address did not serve; the first of the reasons
 * @param signal - ends what is being made; then the rejection is its reason
 * @throws {@link EmbeddedUnavailableError} when none did
 */
export async function findBinary(
  service: string,
  notConfigured: string,
  ways: readonly Way[],
  report: Report,
  signal?: AbortSignal,
): Promise<Found> {
  const reasons = [notConfigured]; // for the error: one for each way
  const why = [notConfigured]; // for the next line of the report: what was found since the last one
  const say = (what: string) => report(`${service}: ${why.splice(0).join(', ')}; ${what}.`);

  for (const way of ways) {
    const binary = await way.kept();
    const problem = binary === undefined ? way.absent : await problemOf(binary);
    if (binary !== undefined && problem === undefined) {
      say(`starting ${way.name} (${binary})`);
      return { how: way.how, binary };
    }
    why.push(problem ?? way.absent);
    if (way.make === undefined) reasons.push(problem ?? way.absent);
  }
  for (const { how, make } of ways) {
    if (make === undefined) continue;
    const impossible = await make.impossible?.();
    if (impossible !== undefined) {
      reasons.push(`${make.noun} is not possible: ${impossible}`);
      continue;
    }
    signal?.throwIfAborted();
    say(make.doing);
    try {
      const binary = await make.run((line) => report(`${service}: ${line}`), signal);
      const problem = await problemOf(binary);
      if (problem !== undefined) throw new Error(problem);
      return { how, binary };
    } catch (error) {
      signal?.throwIfAborted();
      const reason = `${make.noun} failed: ${oneLine(error)}`;
      reasons.push(reason);
      why.push(reason);
    }
  }
  throw new EmbeddedUnavailableError(service, reasons);
}

/** Why a binary cannot be used: made for another machine, a library is missing; undefined when it runs. */
async function problemOf(binary: string): Promise<string | undefined> {
  try {
    await promisify(execFile)(binary, ['--version'], { timeout: 15_000, env: childEnvironment() });
    return undefined;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    return `${binary} does not run: ${oneLine(stderr?.trim() || error)}`;
  }
}

/** The full path of a command on PATH, if there is one. */
export async function onPath(command: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    if (folder === '') continue;
    const file = resolve(folder, command);
    if (await isExecutable(file)) return file;
  }
  return undefined;
}

/** Whether a path is a file that this user may run. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
