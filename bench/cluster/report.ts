import type { Measured, Outcome } from './measure.js';
import {
  type Costs,
  costsOf,
  forEach,
  mostPerSecond,
  type Observation,
  processorMs,
  QUANTITIES,
  sizeFor,
  spentIn,
} from './sizing.js';

/** Rates for which sizes are told, and the part of the time for which main threads are busy in them. */
const RATES = [1_000, 10_000, 100_000];
const BUSY = 0.6;

/** Measurements, a row for each setup. */
export function tellMeasured(all: readonly Measured[]): string[] {
  return [
    'Processor milliseconds for each delivery. main, program: how busy the main thread of a node is, and the program that sends and receives;',
    'cores: how many of the machine were busy; load: of the machine before',
    row('', ['per s', 'group', 'Hookline', 'Temporal', 'PostgreSQL', 'MongoDB', 'program', 'main']),
    ...all.map(({ setup, outcome }) => {
      const { perSecond, groupSize, each, mainThread, program, busyCores, loadBefore } = outcome;
      const parts = [each.hooklineMs, each.temporalMs, each.postgresqlMs, each.mongodbMs, each.programMs];
      return row(nameOf(setup), [
        perSecond.toFixed(0),
        groupSize.toFixed(1),
        ...parts.map((ms) => ms.toFixed(2)),
        `${percent(mainThread)}  program ${percent(program)}  cores ${busyCores.toFixed(2)}  load ${loadBefore.toFixed(1)}`,
      ]);
    }),
  ];
}

/** The two parts of all that a delivery uses up, delivering and recording by themselves. */
export function tellCosts(delivering: Costs, recording: Costs): string[] {
  return [
    row('each of it, for', ['execution', 'delivery', 'recorded: execution', 'recorded: delivery']),
    ...QUANTITIES.map((name) =>
      row(
        name,
        [delivering.execution, delivering.delivery, recording.execution, recording.delivery].map((spent) =>
          spent[name].toFixed(name.endsWith('Bytes') ? 0 : 3),
        ),
      ),
    ),
  ];
}

/** Predictions of costs for setups that they were not taken from, beside what was measured. */
export function tellPredictions(costs: Costs, all: readonly Measured[], cores: number): string[] {
  return all.map(({ setup, outcome }) => {
    const spent = spentIn(costs, outcome.groupSize);
    const [foretold, measured, unit] =
      'events' in setup.load
        ? ([mostPerSecond(spent, cores), outcome.perSecond, 'deliveries/s'] as const)
        : ([processorMs(spent), processorMs(outcome.each), 'ms of processor each'] as const);
    const off = percent(foretold / measured - 1);
    return row(nameOf(setup), [
      `${foretold.toFixed(2)} foretold, ${measured.toFixed(2)} measured ${unit}: ${off}`,
    ]);
  });
}

/** Needs of rates, one by one and in groups of a size. */
export function tellSizes(costs: Costs, groupSize: number): string[] {
  const columns = [
    'starts/s',
    'Hookline',
    'processes',
    'Temporal',
    'PostgreSQL',
    'rows/s',
    'WAL MB/s',
    'GB/day',
  ];
  return [
    `Cores that are busy, recording included; processes with main threads that are busy ${percent(BUSY)} of the time; GB/day: Temporal's databases, and the records`,
    row('', [...columns, 'records GB/day']),
    ...[1, groupSize].flatMap((size) =>
      RATES.map((rate) => {
        const needed = sizeFor(rate, size, costs, BUSY);
        return row(`${rate}/s, ${size === 1 ? 'one by one' : `groups of ${size.toFixed(0)}`}`, [
          needed.executionsPerSecond.toFixed(0),
          needed.hooklineCores.toFixed(1),
          needed.processes.toFixed(0),
          needed.temporalCores.toFixed(1),
          needed.postgresqlCores.toFixed(1),
          needed.rowsPerSecond.toFixed(0),
          (needed.walBytesPerSecond / 1e6).toFixed(1),
          (needed.storedBytesPerDay / 1e9).toFixed(0),
          (needed.recordBytesPerDay / 1e9).toFixed(0),
        ]);
      }),
    ),
  ];
}

/** The costs of delivering, of recording, and of both. */
export function allCosts(alone: Outcome, grouped: Outcome) {
  const of = (each: (outcome: Outcome) => Observation['each']) => {
    const [one, many] = [alone, grouped].map((outcome) => ({
      groupSize: outcome.groupSize,
      each: each(outcome),
    })) as [Observation, Observation];
    return costsOf(one, many);
  };
  return {
    delivering: of(({ each }) => each),
    recording: of(({ records }) => records),
    both: of(({ each, records }) => forEach((name) => each[name] + records[name])),
  };
}

const percent = (part: number) => `${(part * 100).toFixed(0)} %`;

function nameOf({ nodes, isGrouped, load }: Measured['setup']): string {
  const how = 'events' in load ? `${load.inFlight} in flight each` : `at ${load.perSecond}/s`;
  return `${nodes} node${nodes > 1 ? 's' : ''}, ${how}, ${isGrouped ? 'groups' : 'one by one'}`;
}

function row(name: string, cells: readonly string[]): string {
  return `${name.padEnd(40)}${cells.map((cell) => cell.padStart(11)).join(' ')}`;
}
