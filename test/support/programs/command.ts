import { Writable } from 'node:stream';
import { runCommandLine } from '../../../src/bin/command-line.js';

/** A command of `hookline` that runs in this process. */
export interface Command {
  /** Every line that it has written, to standard output and standard error. */
  readonly lines: readonly string[];
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number>;
}

/**
 * Runs a command in this process, which costs a tenth of a process of its own, with nothing in its environment but what
 * is given. What is to be seen of processes, such as signals and locks, needs `startCommand`.
 */
export function inProcess(words: readonly string[], environment: Record<string, string>): Command {
  const lines: string[] = [];
  return { lines, exited: runWith(new Output(lines), new Output(lines), words, environment) };
}

/**
 * Runs a command to its end in this process, as {@link inProcess}.
 *
 * @returns what it says
 * @throws where it fails, with its exit code and what it wrote
 */
export async function runHere(
  command: string,
  environment: Record<string, string>,
  more: readonly string[] = [],
): Promise<string> {
  const stdout = new Output();
  const stderr = new Output();
  const code = await runWith(stdout, stderr, [command, ...more], environment);
  if (code !== 0)
    throw Object.assign(new Error(`hookline ${command} ended with ${code}:\n${stdout.text}${stderr.text}`), {
      code,
      stdout: stdout.text,
      stderr: stderr.text,
    });
  return stdout.text.trim();
}

/** One command at a time has the streams and the environment of the process. */
let last: Promise<unknown> = Promise.resolve();

function runWith(
  stdout: Output,
  stderr: Output,
  words: readonly string[],
  environment: Record<string, string>,
): Promise<number> {
  const ended = last.then(async () => {
    const { env, exitCode } = process;
    const before = Object.getOwnPropertyDescriptors(process);
    Object.defineProperty(process, 'stdout', { value: stdout, configurable: true });
    Object.defineProperty(process, 'stderr', { value: stderr, configurable: true });
    process.env = { PATH: env['PATH'], HOME: env['HOME'], ...environment };
    process.exitCode = undefined;
    try {
      return (await runCommandLine(words)) ? Number(process.exitCode ?? 0) : 1;
    } finally {
      Object.defineProperty(process, 'stdout', before.stdout);
      Object.defineProperty(process, 'stderr', before.stderr);
      Object.assign(process, { env, exitCode });
    }
  });
  last = ended.catch(() => {});
  return ended;
}

/** Keeps what is written, which is whole lines. */
class Output extends Writable {
  text = '';
  readonly #lines: string[];

  constructor(lines: string[] = []) {
    super({ decodeStrings: false });
    this.#lines = lines;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    const text = String(chunk);
    this.text += text;
    this.#lines.push(...text.replace(/\n$/, '').split('\n'));
    done();
  }
}
