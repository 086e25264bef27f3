import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs a command for as long as standard input stays open. The other end of that pipe is in our process, and the
 * operating system closes it whichever way we end, `kill -9` included. Then, or on SIGTERM, the command gets SIGTERM, a
 * bounded time to finish, and at last its whole process group (helpers it started, this shell too) gets SIGKILL. If the
 * command ends by itself, so does this shell, with the same status. If this shell is killed, our end of the pipe is
 * closed, and what watches it stops the command instead.
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
{ trap '' TERM; read -r _ <&3; kill -TERM $$ || stop; } 2>/dev/null &
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
  /** All of the command's environment: see `childEnvironment`. */
  env: NodeJS.ProcessEnv;
  /** Time from SIGTERM to SIGKILL, in milliseconds. */
  graceMs?: number;
  /** Longer than that for a guard that is itself stuck, or gone, in milliseconds. */
  marginMs?: number;
  /** Stops the command when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** A running command that cannot outlive this process. */
export interface GuardedProcess {
  /** The guard's process; its output streams are the command's. */
  readonly child: ChildProcess;
  /**
   * Becomes the exit status once the command has ended and its output is read: 128 and its number for a signal; null
   * when it was stopped, also because its guard had been killed. Never rejects.
   */
  readonly exited: Promise<number | null>;
  /** The signal that killed the guard, where it was not we who stopped the command. */
  guardKilledBy(): NodeJS.Signals | undefined;
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
  const { output, cwd, env, graceMs = DEFAULT_GRACE_MS, marginMs = 5_000, signal } = options;
  const tenths = String(Math.ceil(graceMs / 100));
  const child = spawn('/bin/sh', ['-c', GUARD, 'hookline-guard', tenths, command, ...args], {
    detached: true,
    stdio: ['pipe', output, output],
    cwd,
    env,
  });
  const lastResortMs = graceMs + marginMs;
  let stopping = false;
  const guardKilledBy = () => (stopping ? undefined : (child.signalCode ?? undefined));
  const exited = new Promise<number | null>((resolve) => {
    // Its streams close when what it has left has ended. If it was killed in its first moment, before anything watched
    // for that, nobody else ends it.
    let left: Promise<void> | undefined;
    child
      .once('exit', () => {
        if (guardKilledBy()) left = untilGroupEnded(child, lastResortMs);
      })
      .once('close', async (code) => {
        await left;
        resolve(code);
      })
      .once('error', () => resolve(null));
  });
  // The guard may be gone when we close the pipe; that is what we want, not a failure.
  child.stdin?.on('error', () => {});

  const stop = async () => {
    const runs = () => child.exitCode === null && child.signalCode === null;
    if (runs()) stopping = true;
    child.stdin?.end();
    const lastResort = setTimeout(() => runs() && signalGroup(child, 'SIGKILL'), lastResortMs);
    await exited;
    clearTimeout(lastResort);
  };
  const onAbort = () => void stop();
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort);
  void exited.then(() => signal?.removeEventListener('abort', onAbort));
  return { child, exited, guardKilledBy, stop };
}

/** Waits for what a killed guard has left, which is being stopped. It is killed if that takes too long. */
async function untilGroupEnded(child: ChildProcess, limitMs: number): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (signalGroup(child, 0)) {
    if (Date.now() > deadline) {
      signalGroup(child, 'SIGKILL');
      return;
    }
    await delay(20);
  }
}

/** @returns whether the group has any process left */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return child.pid !== undefined && process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}
