import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Usage, usageOf } from './usage.js';

/** A service in a process of its own. */
export interface ServiceProcess {
  url: string;
  pid: number;
  /** Resources that it has used; zeros if the system has no /proc. */
  usage(): Promise<Usage>;
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
}

/**
 * Starts `serve.js`, or another script that sends `{ url }` to its parent once it serves.
 *
 * @param wrapper a command that runs what stands behind it, such as `unshare`
 * @throws where it ends before
 */
export async function startServiceProcess(
  environment: Record<string, string>,
  script = 'serve.js',
  wrapper: readonly string[] = [],
): Promise<ServiceProcess> {
  const [command = '', ...rest] = [
    ...wrapper,
    process.execPath,
    fileURLToPath(new URL(script, import.meta.url)),
  ];
  const child: ChildProcess = spawn(command, rest, {
    // As the image sets it.
    env: {
      PATH: process.env['PATH'],
      MALLOC_ARENA_MAX: '2',
      NODE_OPTIONS: '--max-semi-space-size=16',
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const ended = exited.then(() => {
    throw new Error(`${script} ended before it served`);
  });
  const [{ url }] = (await Promise.race([once(child, 'message'), ended])) as [{ url: string }];
  ended.catch(() => {});
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  return {
    url,
    pid: child.pid ?? 0,
    usage: async () => (await usageOf(child.pid ?? 0)) ?? { cpuMs: 0, residentBytes: 0 },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
