import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Runs a command for as long as standard input stays open. The other end of that pipe is in our process, and the
 * operating system closes it whichever way we end, `kill -9` included. Then, or on SIGTERM, the command gets SIGTERM,
 * a bounded time to finish, and at last its whole process group (helpers it started, this shell too) gets SIGKILL.
 * If the command ends by itself, so does this shell, with the same status.
 */
const GUARD = `
grace=$1; shift
stop() {
  kill -TERM "$child"; tenths=0
  while kill -0 "$child" && [ "$tenths" -lt "$grace" ]; do
    PATH="$PATH:/usr/bin:/bin" sleep 0.1; tenths=$((tenths + 1))
  done
  kill -KILL 0
}
trap 'stop 2>/dev/null' TERM
exec 3<&0 </dev/null
"$@" 3<&- &
child=$!
{ read -r _ <&3; kill -TERM $$; } 2>/dev/null &
watcher=$!
wait "$child"; status=$?
kill -KILL "$watcher"
exit "$status"
`;

/** How long a command may take to finish after SIGTERM, in milliseconds, unless told otherwise. */
const DEFAULT_GRACE_MS = 10_000;

/** Options of {@link startGuarded}. */
export interface GuardedOptions {
  /** Where output and errors go: an open file, or `pipe` to read them here. */
  output: number | 'pipe';
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Time from SIGTERM to SIGKILL, in milliseconds. */
  graceMs?: number;
}

/** A running command that cannot outlive this process. */
export interface GuardedProcess {
  /** The guard's process; its output streams are the command's. */
  readonly child: ChildProcess;
  /** Becomes the exit status once the command has ended and its output is read; null when a signal ended it. Never rejects. */
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM, waits, then SIGKILL. May be called again, and after the command has ended. */
  stop(): Promise<void>;
}

/**
 * Starts a command that ends when this process ends, in any way. It runs in a session of its own, so that Ctrl-C in the
 * terminal reaches only us and we decide what stops when.
 */
export function startGuarded(
  command: string,
  args: readonly string[],
  options: GuardedOptions,
): GuardedProcess {
  const { output, cwd, env, graceMs = DEFAULT_GRACE_MS } = options;
  const tenths = String(Math.ceil(graceMs / 100));
  const child = spawn('/bin/sh', ['-c', GUARD, 'hookline-guard', tenths, command, ...args], {
    detached: true,
    stdio: ['pipe', output, output],
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => resolve(code)).once('error', () => resolve(null));
  });
  // The guard may be gone when we close the pipe; that is what we want, not a failure.
  child.stdin?.on('error', () => {});

  return {
    child,
    exited,
    async stop() {
      child.stdin?.end();
      // Only for a guard that is itself stuck: it would have ended long before.
      const lastResort = setTimeout(() => killGroup(child), graceMs + 5_000);
      await exited;
      clearTimeout(lastResort);
    },
  };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It ended in this very moment.
  }
}
