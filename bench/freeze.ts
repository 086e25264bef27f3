import { constants, setPriority } from 'node:os';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, prepareRequests, type RequestKind, sendAll } from './support/each-request.js';
import { type BenchReceiver, startReceiver } from './support/receiver.js';
import { type BenchServers, type ServerName, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';

/** How long a killed server is gone before it is started again. Milliseconds. */
const DEAD_MS = 2_000;
/** Between the requests of one kind: three a second. */
const EVERY_MS = 333;
/**
 * From a fault's end until every kind of request is answered 2xx again, and until every accepted event has arrived.
 * Milliseconds.
 */
const RECOVERY_LIMIT_MS = 60_000;

type Fault = 'frozen' | 'killed';

/**
 * Freezes and kills each server that Hookline needs while requests of every kind come in, and says what they were
 * answered, and whether every accepted event was delivered. Says how late the event loops of both sides were: an
 * answer's time has both in it.
 *
 * @param frozenMs how long a server is frozen
 */
export async function freeze(
  servers: BenchServers,
  frozenMs: number,
  say: (line: string) => void,
): Promise<void> {
  const own = monitorEventLoopDelay();
  own.enable();
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers, {
    HOOKLINE_LOG_LEVEL: 'silent',
    HOOKLINE_RATE_LIMIT_ADDRESS: '100000000/1m',
  });
  try {
    // Programs that were started before go on as they are.
    preferred();
    await system.register(`${receiver.url}/`);
    const kinds = await prepareRequests(system);
    for (const server of ['Temporal', 'MongoDB'] as const) {
      for (const fault of ['frozen', 'killed'] as const) {
        own.reset();
        const late = lateness(system.url);
        const answers = await duringFault(servers, kinds, server, fault, frozenMs);
        const services = await late.stop();
        const accepted = answers.flatMap(({ eventId }) => eventId ?? []);
        const lost = await countLost(receiver, accepted);
        say(
          `freeze: ${server} ${fault === 'frozen' ? `frozen for ${frozenMs / 1_000} s` : 'killed and started again'}.`,
        );
        for (const { name } of kinds)
          say(
            describe(
              name,
              answers.filter(({ kind }) => kind === name),
            ),
          );
        say(describe('all', answers));
        say(
          `        event loops late by at most: the client's ${longest(own)} ms, the service's ${services} ms.`,
        );
        say(`        ${accepted.length} events accepted, ${lost} of them lost.`);
      }
    }
    say(`        ${receiver.count - receiver.arrivals.size} of ${receiver.count} arrivals were repeats.`);
  } finally {
    await system.stop();
    await receiver.close();
  }
}

/** Sends all kinds of requests from before a fault until all are answered 2xx again. @returns every answer */
async function duringFault(
  servers: BenchServers,
  kinds: readonly RequestKind[],
  server: ServerName,
  fault: Fault,
  frozenMs: number,
): Promise<Answer[]> {
  const load = sendAll(kinds, EVERY_MS);
  const isWell = (since: number) =>
    kinds.every(({ name }) =>
      load.answers.some((answer) => answer.kind === name && answer.sentAt > since && answer.status < 300),
    );
  await until(() => isWell(0), RECOVERY_LIMIT_MS);
  if (fault === 'frozen') {
    await servers.signal(server, 'SIGSTOP');
    await delay(frozenMs);
    await servers.signal(server, 'SIGCONT');
  } else {
    await servers.signal(server, 'SIGKILL');
    await delay(DEAD_MS);
    await servers.restart(server);
  }
  const over = performance.now();
  await until(() => isWell(over), RECOVERY_LIMIT_MS);
  await load.stop();
  return load.answers;
}

/** Has this process get its processor time before others, where it may. */
function preferred(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGH);
  } catch {
    // Without the right to it, what is printed of the client's event loop says what that cost.
  }
}

const longest = ({ max }: IntervalHistogram) => Math.round(max / 1e6);

/** Asks a service each second how late its event loop was. `stop` has the longest, milliseconds. */
function lateness(url: string): { stop(): Promise<number> } {
  let most = 0;
  const look = async () => {
    const text = await fetch(`${url}/metrics`).then((answer) => answer.text());
    const [, seconds = '0'] = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text) ?? [];
    most = Math.max(most, Math.round(Number(seconds) * 1_000) || 0);
  };
  const timer = setInterval(() => void look().catch(() => {}), 1_000);
  return {
    async stop() {
      clearInterval(timer);
      await look().catch(() => {});
      return most;
    },
  };
}

async function countLost(receiver: BenchReceiver, accepted: readonly string[]): Promise<number> {
  const lost = () => accepted.filter((id) => !receiver.arrivals.has(`${id} /`)).length;
  await until(() => lost() === 0, RECOVERY_LIMIT_MS).catch(() => {});
  return lost();
}

function describe(name: string, answers: readonly Answer[]): string {
  const counts = new Map<string, number>();
  for (const { status, problem } of answers) {
    const code = status === 0 ? (problem ?? 'no answer') : String(status);
    counts.set(code, (counts.get(code) ?? 0) + 1);
  }
  const codes = [...counts].sort().map(([code, count]) => `${count} x ${code}`);
  const longest = Math.max(...answers.map(({ ms }) => ms));
  return `        ${name.padEnd(30)} ${String(answers.length).padStart(4)} responses: ${codes.join(', ')}; longest ${longest.toFixed(0)} ms`;
}
