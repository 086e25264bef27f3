import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, prepareRequests, type RequestKind, sendAll } from './support/each-request.js';
import { type BenchReceiver, startReceiver } from './support/receiver.js';
import { type BenchServers, type ServerName, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';

/** How long a server is frozen. Milliseconds. */
const FROZEN_MS = 15_000;
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
 * answered, and whether every accepted event was delivered.
 */
export async function freeze(servers: BenchServers, say: (line: string) => void): Promise<void> {
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers, {
    HOOKLINE_LOG_LEVEL: 'silent',
    HOOKLINE_RATE_LIMIT_ADDRESS: '100000000/1m',
  });
  try {
    await system.register(`${receiver.url}/`);
    const kinds = await prepareRequests(system);
    for (const server of ['Temporal', 'MongoDB'] as const) {
      for (const fault of ['frozen', 'killed'] as const) {
        const answers = await duringFault(servers, kinds, server, fault);
        const accepted = answers.flatMap(({ eventId }) => eventId ?? []);
        const lost = await countLost(receiver, accepted);
        say(
          `freeze: ${server} ${fault === 'frozen' ? `frozen for ${FROZEN_MS / 1_000} s` : 'killed and started again'}.`,
        );
        for (const { name } of kinds)
          say(
            describe(
              name,
              answers.filter(({ kind }) => kind === name),
            ),
          );
        say(describe('all', answers));
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
): Promise<Answer[]> {
  const load = sendAll(kinds, EVERY_MS);
  const isWell = (since: number) =>
    kinds.every(({ name }) =>
      load.answers.some((answer) => answer.kind === name && answer.sentAt > since && answer.status < 300),
    );
  await until(() => isWell(0), RECOVERY_LIMIT_MS);
  if (fault === 'frozen') {
    await servers.signal(server, 'SIGSTOP');
    await delay(FROZEN_MS);
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
  return `        ${name.padEnd(30)} ${String(answers.length).padStart(4)} answers: ${codes.join(', ')}; longest ${longest.toFixed(0)} ms`;
}
