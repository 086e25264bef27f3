import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { makeUniqueIndexes } from '../parts/unique-indexes.js';
import { countStart } from '../started.js';
import { HOOKLINE } from './build.js';

/** A `hookline serve` in a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Every line that it has written, to standard output and standard error. */
  readonly lines: readonly string[];
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Tells it to stop. */
  terminate(): void;
  /** Resolves when it has ended: with its exit code, or `null` where a signal ended it. */
  readonly exited: Promise<number | null>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** How a command of `hookline` is run: program, arguments, and an environment with the settings and nothing else. */
function hookline(command: string, settings: Record<string, string>, more: readonly string[] = []) {
  countStart('process');
  const args = [HOOKLINE, command, ...more];
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], ...settings };
  return { program: process.execPath, args, env };
}

/** Runs a command of `hookline` as an operator would. @returns what it says @throws where it fails */
export async function runHookline(
  command: string,
  settings: Record<string, string>,
  more: readonly string[] = [],
): Promise<string> {
  const { program, args, env } = hookline(command, settings, more);
  const { stdout } = await promisify(execFile)(program, args, { env });
  return stdout.trim();
}

/** A command of `hookline` that runs for a while. */
export interface CommandProcess {
  /** Every line that it has written, to standard output and standard error. */
  readonly lines: readonly string[];
  readonly exited: Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
}

/** Starts a command with nothing in its environment but what is given. */
export function startCommand(
  [command = '', ...more]: readonly string[],
  environment: Record<string, string>,
): CommandProcess {
  const { program, args, env } = hookline(command, environment, more);
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => void lines.push(line));
  const exited = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  return { lines, exited, signal: (signal) => void child.kill(signal) };
}

/**
 * Starts the service as an operator would.
 *
 * @param environment its settings; resolves when it listens
 * @param more words of the command line
 * @throws where it ends before, with what it wrote
 */
export async function startServiceProcess(
  environment: Record<string, string>,
  more: readonly string[] = [],
): Promise<ServiceProcess> {
  await makeUniqueIndexes(environment['MONGODB_URI'] ?? '');
  const { program, args, env } = hookline('serve', { ...environment, HOOKLINE_LOG_LEVEL: 'info' }, more);
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const lines: string[] = [];
  const exited = once(child, 'close').then(([code]) => {
    running.delete(child);
    return code as number | null;
  });
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        lines.push(line);
        const served = /"url":"(http:[^"]+)".*"msg":"serving"/.exec(line)?.[1];
        if (served) resolve(served);
      });
    }
    void exited.then((code) => reject(new Error(`serve ended with ${code}:\n${lines.join('\n')}`)));
  });
  return {
    url,
    pid: child.pid ?? 0,
    lines,
    exited,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    terminate: () => void child.kill('SIGTERM'),
  };
}

/** Runs a script of ours in a process of its own, which ends with the tests at the latest. */
export function spawnScript(path: string, args: readonly string[]): ChildProcess {
  countStart('process');
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}
