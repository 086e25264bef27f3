import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { pino } from 'pino';
import { installRuntime } from '../src/temporal/server/connection.js';
import { measureCounts } from './counts.js';
import { measureEconomy } from './economy.js';
import { measureFloor } from './floor.js';
import { measureMe, type RouteSpeed } from './me.js';
import { measureReads } from './reads.js';
import { measureFanOut, measureIsolation, measureLatency, measureSaturated } from './scenarios.js';
import { type BenchServers, startServers } from './support/system.js';

/**
 * Events of a saturated run with group commit, and of slower ones; how many are on their way at once; and a steady rate
 * per second.
 */
const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 8_000);
const SLOW_EVENTS = EVENTS / 5;
const CONCURRENCY = 32;
const STEADY = 50;
/** Deliveries that are there while lists and single ones are read: p50, p95. */
const READ_DELIVERIES = Number(process.env['BENCH_DELIVERIES'] ?? 20_000);
const RESULT_FILE = 'bench-result.json';

const say = (line = '') => process.stdout.write(`${line}\n`);
const only = process.argv.slice(2);
const wanted = (name: string) => only.length === 0 || only.includes(name);

/** Measures on servers of its own, as Temporal gets slower with what it has stored. */
async function onFreshServers<T>(measure: (servers: BenchServers) => Promise<T>): Promise<T> {
  const servers = await startServers(() => {});
  try {
    return await measure(servers);
  } finally {
    await servers.stop();
  }
}

async function run(): Promise<Record<string, unknown>> {
  const result: Record<string, unknown> = {};
  const note = (key: string, value: unknown, name: string, text: string) => {
    result[key] = value;
    say(`${name.padEnd(58)} ${text}`);
  };

  const floor = await onFreshServers((servers) =>
    measureFloor(servers, {
      workflows: Math.min(EVENTS, 1_000),
      concurrency: CONCURRENCY,
      perSecond: STEADY,
    }),
  );
  note(
    'floor',
    floor,
    '(a) empty workflow, started eagerly and completed',
    `${floor.perSecond.toFixed(0)}/s`,
  );
  const ratio = (perSecond: number) =>
    `${perSecond.toFixed(0)}/s = ${(perSecond / floor.perSecond).toFixed(2)} x (a)`;
  note(
    'least_delivery',
    floor.leastDeliveryPerSecond,
    '    with an empty local activity, and search attributes',
    ratio(floor.leastDeliveryPerSecond),
  );
  note(
    'start_call_ms',
    { alone: floor.startCallMs, steady: floor.steadyStartCallMs },
    `    start call, median: alone, and at ${STEADY}/s`,
    `${floor.startCallMs.toFixed(1)}, ${floor.steadyStartCallMs.toFixed(1)} ms`,
  );

  const saturated = async (
    key: string,
    name: string,
    events: number,
    options: Parameters<typeof measureSaturated>[1],
  ) => {
    const measured = await onFreshServers((servers) =>
      measureSaturated(servers, { ...options, events, concurrency: CONCURRENCY }),
    );
    const { cpu } = measured;
    const each = cpu
      ? `; CPU ms each: ${cpu.service.toFixed(2)} Hookline, ${cpu.temporal.toFixed(2)} Temporal`
      : '';
    const memory = measured.residentBytes ? `; ${(measured.residentBytes / 1e6).toFixed(0)} MB` : '';
    note(key, measured, name, `${ratio(measured.perSecond)}${each}${memory}`);
    return measured;
  };
  if (wanted('group'))
    await saturated('group_https', '(b) Hookline, group commit, HTTPS', EVENTS, { tls: true });
  if (wanted('group'))
    await saturated('group_http', '(b) Hookline, group commit, plain HTTP', EVENTS, { tls: false });
  if (wanted('single')) {
    const off = { HOOKLINE_GROUP_COMMIT: 'off' };
    const single = await saturated('single', '(b) Hookline, one by one, plain HTTP', SLOW_EVENTS, {
      tls: false,
      overrides: off,
    });
    const plain = await saturated('plain', '(c) the plain way: one regular activity', SLOW_EVENTS / 2, {
      tls: false,
      overrides: off,
      script: 'serve-plain.js',
    });
    note(
      'single_over_plain',
      single.perSecond / plain.perSecond,
      '    one by one over the plain way',
      `${(single.perSecond / plain.perSecond).toFixed(2)} x`,
    );
  }
  if (wanted('latency')) {
    const latency = await onFreshServers((servers) =>
      measureLatency(servers, { perSecond: STEADY, seconds: 20 }),
    );
    const { p50, p95, p99 } = latency;
    note(
      'latency',
      latency,
      `(d) publish to arrival at ${STEADY} events/s: p50, p95, p99`,
      `${p50.toFixed(1)}, ${p95.toFixed(1)}, ${p99.toFixed(1)} ms`,
    );
    note(
      'latency_over_start',
      { alone: p50 / floor.startCallMs, steady: p50 / floor.steadyStartCallMs },
      `    p50 over a start call: alone, and at ${STEADY}/s`,
      `${(p50 / floor.startCallMs).toFixed(2)} x, ${(p50 / floor.steadyStartCallMs).toFixed(2)} x`,
    );
  }
  if (wanted('economy')) {
    for (const [key, name, overrides] of [
      ['economy_single', 'one by one', { HOOKLINE_GROUP_COMMIT: 'off' }],
      ['economy_group', 'group commit', {}],
    ] as const) {
      const economy = await onFreshServers((servers) =>
        measureEconomy(servers, { events: 1_000, concurrency: CONCURRENCY, overrides }),
      );
      note(
        key,
        economy,
        `(g) history events, Temporal calls per delivery, ${name}`,
        `${economy.historyEvents.toFixed(2)}, ${economy.calls.toFixed(2)}`,
      );
    }
  }
  if (wanted('counts')) {
    const counts = await onFreshServers((servers) =>
      measureCounts(servers, { events: EVENTS, concurrency: CONCURRENCY }),
    );
    say('(g) for one delivery of a group, the main thread does');
    for (const [name, value] of Object.entries(counts))
      note(`count ${name}`, value, `    ${name}`, value.toFixed(2));
  }
  if (wanted('fanout')) {
    for (const endpoints of [100, 1_000]) {
      const perSecond = await onFreshServers((servers) => measureFanOut(servers, endpoints));
      note(
        `fan_out_${endpoints}`,
        perSecond,
        `(e) fan-out to ${endpoints}`,
        `${perSecond.toFixed(0)} deliveries/s`,
      );
    }
  }
  if (wanted('isolation')) {
    const { alone, besideBad } = await onFreshServers((servers) => measureIsolation(servers, 15));
    const ratio = besideBad / alone;
    note(
      'isolation',
      { alone, besideBad },
      '(f) p99 of good endpoints, alone and beside a third that hang',
      `${alone.toFixed(0)}, ${besideBad.toFixed(0)} ms = ${ratio.toFixed(2)} x`,
    );
  }
  if (wanted('me')) {
    const { me, bare } = await onFreshServers(measureMe);
    const speed = ({ perSecond, p50, p99, cpuMicroseconds }: RouteSpeed) =>
      `${perSecond.toFixed(0)}/s; p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms; CPU ${cpuMicroseconds.toFixed(0)} µs each`;
    note('bare_koa', bare, '    a bare Koa route', speed(bare));
    const share = (me.perSecond / bare.perSecond).toFixed(2);
    note('me', me, '(h) GET /v18.0/me, token check and limits on', `${speed(me)}; ${share} x the bare route`);
  }
  if (wanted('reads')) {
    const reads = await onFreshServers((servers) => measureReads(servers, READ_DELIVERIES));
    for (const { call, p50, p95 } of reads)
      note(`read ${call}`, { p50, p95 }, `(i) ${call}`, `${p50.toFixed(0)}, ${p95.toFixed(0)} ms`);
  }
  return result;
}

installRuntime(pino({ level: 'error' }, pino.destination(2)), undefined);
const machine = {
  cores: cpus().length,
  processor: cpus()[0]?.model ?? '',
  node: process.version,
  persistence: 'SQLite (WAL)',
};
say(
  `${machine.cores} cores (${machine.processor}), Node.js ${machine.node}, Temporal dev server on ${machine.persistence}`,
);
say();
await writeFile(RESULT_FILE, `${JSON.stringify({ machine, ...(await run()) }, null, 2)}\n`);
say();
say(`Written to ${RESULT_FILE}.`);
