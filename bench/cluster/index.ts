import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { requireServers } from '../../src/bin/process/server-settings.js';
import { untilStopped } from '../../src/bin/process/stop.js';
import { loadSettings } from '../../src/config/load.js';
import { connectTemporal, installRuntime } from '../../src/temporal/server/connection.js';
import { reportOn, tellReport } from '../chaos/report.js';
import { run } from '../chaos/run.js';
import { createAccount } from '../support/system.js';
import { type Measured, measure, medianOf, type Outcome, type Setup } from './measure.js';
import { startNodes } from './nodes.js';
import { allCosts, tellCosts, tellMeasured, tellPredictions, tellSizes } from './report.js';
import { type ClusterServers, startClusterServers } from './servers.js';

const USAGE = `npm run cluster -- [--nodes 2] [--drill | --measure] [--rate 30] [--rounds 3] [--events 6000] [--runs 3]

Runs what docker-compose.yml does, without containers: Temporal's own server over PostgreSQL, MongoDB or what stands in for it, and nodes of
\`hookline serve\`. Temporal's server is built with Go, once per user; PostgreSQL must be installed. TEST_MONGODB_URI names a MongoDB server.

  (neither)    until Ctrl-C
  --drill      restarts one node after another while events come, --rounds times, and checks every view; ends with 1 if a rule was broken
  --measure    what 1, 2 and 3 nodes do and cost, and what larger rates need`;

const say = (line = '') => process.stdout.write(`${line}\n`);
const progress = (line: string) => process.stderr.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '2' },
    drill: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
    rate: { type: 'string', default: '30' },
    rounds: { type: 'string', default: '3' },
    events: { type: 'string', default: '6000' },
    runs: { type: 'string', default: '3' },
    help: { type: 'boolean', default: false },
  },
});
const [nodes, rate, rounds, events, runs] = [
  values.nodes,
  values.rate,
  values.rounds,
  values.events,
  values.runs,
].map(Number) as [number, number, number, number, number];
if (values.help || ![nodes, rate, rounds, events, runs].every((number) => number >= 1)) {
  say(USAGE);
  process.exit(values.help ? 0 : 1);
}
installRuntime(pino({ level: 'silent' }), undefined);
if (values.drill) await drill();
else {
  const servers = await startClusterServers(progress);
  try {
    await (values.measure ? measureAll(servers) : keepRunning(servers));
  } finally {
    await servers.stop();
  }
}

/** Restarts one node after another while events come, and checks what all views say afterwards. */
async function drill(): Promise<void> {
  const rolled = { name: 'nodes-rolled', afterMs: 0, forMs: 0, pick: 0 } as const;
  const round = { faults: [rolled], acts: [], restMs: 2_000 };
  const plan = { seed: 1, rounds: Array.from({ length: rounds }, () => round) };
  const { collected, ended } = await run({
    plan,
    nodes,
    perSecond: rate,
    sample: 300,
    report: progress,
    startServers: () => startClusterServers(progress),
  });
  const report = reportOn(plan.seed, collected, ended);
  for (const line of tellReport(report)) say(line);
  process.exitCode = report.isWell ? 0 : 1;
}

async function keepRunning(servers: ClusterServers): Promise<void> {
  const overrides = { HOOKLINE_LOG_INTERVAL: '2m', HOOKLINE_LOG_LEVEL: 'info' };
  const system = await startNodes(servers, nodes, overrides);
  try {
    const { key } = await createAccount(system.environment, system.nodes[0]?.url ?? '');
    for (const { url } of system.nodes) say(`Hookline    ${url}/v18.0`);
    say(`API key     ${key}`);
    say(`Temporal    ${servers.temporalAddress}, namespace ${servers.namespace}`);
    say(`PostgreSQL  ${servers.postgresql.url}`);
    say(`MongoDB     ${system.environment['MONGODB_URI']}`);
    say(`Logs        ${servers.folder}/logs`);
    say('Ctrl-C stops all of it and removes its data.');
    await untilStopped(new Promise<never>(() => {}));
  } finally {
    await system.stop();
  }
}

/**
 * Measures setups in turns, so that what the machine does meanwhile concerns all of them, and tells the middle of each.
 */
async function measureAll(servers: ClusterServers): Promise<void> {
  const saturated = (count: number, inFlight: number, isGrouped: boolean): Setup => ({
    nodes: count,
    isGrouped,
    load: { inFlight, events: isGrouped ? events : events / 6 },
  });
  const setups = [
    ...[1, 2, 3].map((count) => saturated(count, 32, false)),
    ...[1, 2, 3].map((count) => saturated(count, 32, true)),
    ...[8, 96].map((inFlight) => saturated(1, inFlight, true)),
    { nodes: 2, isGrouped: true, load: { perSecond: 100, seconds: 20 } },
  ];
  const temporal = await connectTemporal(requireServers(loadSettings(servers.environment())).temporal);
  const outcomes = new Map<Setup, Outcome[]>(setups.map((setup) => [setup, []]));
  try {
    for (let number = 1; number <= runs; number += 1) {
      for (const setup of setups) {
        const outcome = await measure(servers, temporal, setup);
        outcomes.get(setup)?.push(outcome);
        progress(tellMeasured([{ setup, outcome }]).at(-1) ?? '');
      }
    }
  } finally {
    await temporal.close();
  }
  const all = setups.map((setup): Measured => ({ setup, outcome: medianOf(outcomes.get(setup) ?? []) }));
  const [alone, grouped] = [all[0], all[3]] as [Measured, Measured];
  const costs = allCosts(alone.outcome, grouped.outcome);
  const parts = [
    tellMeasured(all),
    tellCosts(costs.delivering, costs.recording),
    tellPredictions(
      costs.delivering,
      all.filter((each) => each !== alone && each !== grouped),
      cpus().length,
    ),
    tellSizes(costs.both, grouped.outcome.groupSize),
  ];
  for (const part of parts) say(`${part.join('\n')}\n`);
}
