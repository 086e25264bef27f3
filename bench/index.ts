import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { pino } from 'pino';
import { installRuntime } from '../src/temporal/connection.js';
import { measureFloor } from './floor.js';
import { measureFanOut, measureIsolation, measureLatency, measureSaturated } from './scenarios.js';
import { type BenchServers, startServers } from './system.js';

/** Events of a saturated run, and how many are on their way at once. */
const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 2_000);
const CONCURRENCY = 32;
const RESULT_FILE = 'bench-result.json';

const say = (line = '') => process.stdout.write(`${line}\n`);
const only = process.argv.slice(2);
const wanted = (name: string) => only.length === 0 || only.includes(name);

type Row = [name: string, value: string];

async function run(servers: BenchServers): Promise<Record<string, unknown>> {
  const rows: Row[] = [];
  const result: Record<string, unknown> = {};
  const note = (key: string, value: unknown, name: string, text: string) => {
    result[key] = value;
    rows.push([name, text]);
    say(`${name.padEnd(58)} ${text}`);
  };

  const floor = await measureFloor(servers, Math.min(EVENTS, 1_000), CONCURRENCY);
  note(
    'floor',
    floor,
    '(a) empty workflow, started eagerly and completed',
    `${floor.perSecond.toFixed(0)}/s`,
  );
  note(
    'start_call_ms',
    floor.startCallMs,
    '    one start call, median',
    `${floor.startCallMs.toFixed(1)} ms`,
  );
  const ratio = (perSecond: number) =>
    `${perSecond.toFixed(0)}/s = ${(perSecond / floor.perSecond).toFixed(2)} x (a)`;

  const saturated = async (
    key: string,
    name: string,
    events: number,
    options: Parameters<typeof measureSaturated>[1],
  ) => {
    const measured = await measureSaturated(servers, { ...options, events, concurrency: CONCURRENCY });
    const { cpu } = measured;
    const each = cpu
      ? `; CPU ms each: ${cpu.service.toFixed(2)} Hookline, ${cpu.temporal.toFixed(2)} Temporal`
      : '';
    note(key, measured, name, `${ratio(measured.perSecond)}${each}`);
    return measured;
  };
  if (wanted('group'))
    await saturated('group_https', '(b) Hookline, group commit, HTTPS', EVENTS, { tls: true });
  if (wanted('group'))
    await saturated('group_http', '(b) Hookline, group commit, plain HTTP', EVENTS, { tls: false });
  if (wanted('single')) {
    const off = { HOOKLINE_GROUP_COMMIT: 'off' };
    const single = await saturated('single', '(b) Hookline, one by one, plain HTTP', EVENTS / 2, {
      tls: false,
      overrides: off,
    });
    const plain = await saturated('plain', '(c) the plain way: one regular activity', EVENTS / 4, {
      tls: false,
      overrides: { ...off, BENCH_FOLDER: servers.folder },
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
    const latency = await measureLatency(servers, { perSecond: 50, seconds: 20 });
    const { p50, p95, p99 } = latency;
    note(
      'latency',
      latency,
      '(d) publish to arrival at 50 events/s: p50, p95, p99',
      `${p50.toFixed(1)}, ${p95.toFixed(1)}, ${p99.toFixed(1)} ms`,
    );
    note(
      'latency_over_start',
      p50 / floor.startCallMs,
      '    p50 over one start call',
      `${(p50 / floor.startCallMs).toFixed(2)} x`,
    );
  }
  if (wanted('fanout')) {
    for (const endpoints of [100, 1_000]) {
      const perSecond = await measureFanOut(servers, endpoints);
      note(
        `fan_out_${endpoints}`,
        perSecond,
        `(e) fan-out to ${endpoints}`,
        `${perSecond.toFixed(0)} deliveries/s`,
      );
    }
  }
  if (wanted('isolation')) {
    const { alone, besideBad } = await measureIsolation(servers, 15);
    const ratio = besideBad / alone;
    note(
      'isolation',
      { alone, besideBad },
      '(f) p99 of good endpoints, alone and beside a third that hang',
      `${alone.toFixed(0)}, ${besideBad.toFixed(0)} ms = ${ratio.toFixed(2)} x`,
    );
  }
  return result;
}

installRuntime(pino({ level: 'error' }, pino.destination(2)), undefined);
const servers = await startServers(say);
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
try {
  const result = await run(servers);
  await writeFile(RESULT_FILE, `${JSON.stringify({ machine, ...result }, null, 2)}\n`);
  say();
  say(`Written to ${RESULT_FILE}.`);
} finally {
  await servers.stop();
}
