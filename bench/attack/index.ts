import { constants, cpus, setPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { installRuntime } from '../../src/temporal/server/connection.js';
import { warmUp } from '../support/load.js';
import { seeded } from '../support/random.js';
import { percentile } from '../support/statistics.js';
import { type BenchServers, startBenchSystem, startServers } from '../support/system.js';
import { Answers, type Attack, type Hostile, makeAccount, type Probe, type Target } from './attack.js';
import { failedNames } from './scenarios/failed-names.js';
import { matching, parsing } from './scenarios/filters.js';
import { largeResponses } from './scenarios/large-responses.js';
import { namedServer, systemServer } from './scenarios/names.js';
import { numbers } from './scenarios/numbers.js';
import * as probes from './scenarios/probes.js';
import { names } from './scenarios/queries.js';
import { checks } from './scenarios/schemas.js';
import { silentClients } from './scenarios/stopping.js';
import { frames, pages, tickets } from './scenarios/streams.js';
import { type Seen, startTenant } from './tenant.js';

const ATTACKS: readonly Attack[] = [
  parsing,
  matching,
  checks,
  numbers,
  frames,
  tickets,
  pages,
  names,
  namedServer,
  systemServer,
  largeResponses,
];
const PROBES: readonly Probe[] = [...Object.values(probes), silentClients, failedNames];

/**
 * How many times as long as alone a healthy tenant may wait during an attack, and what is too little to tell,
 * milliseconds.
 */
const MOST_TIMES = 3;
const LEAST_TOLD_MS = 50;
/** How long what an attacker has begun may take to end, milliseconds. */
const END_WITHIN_MS = 20_000;

const say = (line = '') => process.stdout.write(`${line}\n`);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '10' } },
});
const seconds = Number(values.seconds);
const known = [...ATTACKS, ...PROBES].map(({ name }) => name);
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0 || !(seconds >= 1)) {
  say(`npm run attack -- [--seed 1] [--seconds 10] [${known.join('|')} …]`);
  process.exit(1);
}
const isChosen = ({ name }: { name: string }) => positionals.length === 0 || positionals.includes(name);

/** Has a system for an attack or a probe, of its own. */
async function against<T>(
  servers: BenchServers,
  { environment, wrapper }: Pick<Attack, 'environment' | 'wrapper'>,
  act: (target: Target) => Promise<T>,
): Promise<T> {
  const overrides = (await environment?.()) ?? {};
  const system = await startBenchSystem(servers, overrides, undefined, wrapper?.());
  const answers = new Answers();
  const hostile: Hostile[] = [];
  try {
    return await act({
      system,
      answers,
      random: seeded(Number(values.seed)),
      async account(options) {
        const made = await makeAccount(system, answers, options);
        hostile.push(made);
        return made;
      },
    });
  } finally {
    await Promise.all(hostile.map((one) => one.close()));
    await system.kill();
  }
}

/** @returns whether a healthy tenant waited no longer than it may */
async function attack(servers: BenchServers, one: Attack): Promise<boolean> {
  say(`${one.name}: ${one.about}.`);
  if (one.isPossible?.() === false) {
    say('  left out: this machine does not allow it.');
    return true;
  }
  try {
    return await against(servers, one, async (target) => {
      const tenant = await startTenant(await target.system.newAccount(), one.tenantHost);
      await warmUp(await target.system.newAccount(), 4);
      const alone = await tenant.watch(seconds);
      const run = await one.prepare(target);
      const before = await target.system.usage();
      const stop = new AbortController();
      giveWay(true);
      const running = run(stop.signal);
      const beside = await tenant.watch(seconds);
      const after = await target.system.usage();
      stop.abort();
      giveWay(false);
      const ended = new Promise((resolve) => setTimeout(resolve, END_WITHIN_MS).unref());
      await Promise.race([running, ended]);
      await tenant.stop();
      say(`  attackers: ${target.answers}.`);
      const memory = [before, after].map(({ residentBytes }) => Math.round(residentBytes / 1e6));
      const cpuSeconds = ((after.cpuMs - before.cpuMs) / 1_000).toFixed(1);
      say(`  the service: ${cpuSeconds} s of processor time; ${memory.join(' → ')} MB of memory.`);
      return report(alone, beside);
    });
  } finally {
    await one.clean?.();
  }
}

/**
 * Attackers are elsewhere: what they use themselves is not taken from the service. Only root may take a priority back.
 */
function giveWay(doesSo: boolean): void {
  if (process.getuid?.() === 0)
    setPriority(doesSo ? constants.priority.PRIORITY_LOW : constants.priority.PRIORITY_NORMAL);
}

function report(alone: Seen, beside: Seen): boolean {
  const rows = (['acceptMs', 'arriveMs', 'healthMs'] as const).map((name) => {
    const [before, during] = [percentile(alone[name], 99), percentile(beside[name], 99)];
    const isWell = during <= Math.max(MOST_TIMES * before, LEAST_TOLD_MS);
    const shown = ({ [name]: times }: Seen) =>
      `${percentile(times, 50).toFixed(1)}/${percentile(times, 99).toFixed(1)}`;
    say(
      `  ${name.replace('Ms', '').padEnd(7)} p50/p99 ms: alone ${shown(alone)}, beside ${shown(beside)}: ${(during / before).toFixed(1)} ×${isWell ? '' : '  TOO LONG'}`,
    );
    return isWell;
  });
  const errors = Object.entries(beside.errors).map(([what, count]) => `${count} × ${what}`);
  say(`  errors of the healthy tenant: ${errors.join(', ') || 'none'}.`);
  return errors.length === 0 && rows.every((isWell) => isWell);
}

async function probe(servers: BenchServers, one: Probe): Promise<boolean> {
  const seen = await against(servers, one, (target) => one.run(target))
    .catch((error: Error) => `FAILED: it could not be tried: ${error.message}`)
    .finally(() => one.clean?.());
  say(`${one.name}: ${one.about}: ${seen}.`);
  return !seen.startsWith('FAILED');
}

installRuntime(pino({ level: 'silent' }), undefined);
const servers = await startServers(() => {});
say(
  `${cpus().length} cores, Node.js ${process.version}, seed ${values.seed}, ${seconds} s alone and ${seconds} s beside each attack`,
);
const failed: string[] = [];
try {
  for (const one of ATTACKS.filter(isChosen)) if (!(await attack(servers, one))) failed.push(one.name);
  for (const one of PROBES.filter(isChosen)) if (!(await probe(servers, one))) failed.push(one.name);
} finally {
  await servers.stop();
}
say(failed.length === 0 ? 'Everything held.' : `Did not hold: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
