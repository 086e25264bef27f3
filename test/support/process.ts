import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A `hookline serve` in a process of its own. */
export interface ServiceProcess {
  readonly url: string;
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

/**
 * Starts the service as an operator would.
 *
 * @param environment its settings; resolves when the API listens
 * @throws where it ends before, with what it wrote
 */
export async function startServiceProcess(environment: Record<string, string>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/bin/hookline.ts', 'serve'], {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...environment, HOOKLINE_LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
    lines,
    exited,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
    terminate: () => void child.kill('SIGTERM'),
  };
}
