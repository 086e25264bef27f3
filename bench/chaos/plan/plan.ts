import { seeded } from '../../support/random.js';
import { ACT_KINDS, type ActName, FAULT_KINDS, type FaultName, type Struck } from './kinds.js';

/** A fault that will be made. */
export interface PlannedFault {
  name: FaultName;
  /** From the beginning of its round, milliseconds. */
  afterMs: number;
  forMs: number;
  /** Which process, link or receiver: from 0 up to 1, a part of as many as there are. */
  pick: number;
}

export interface PlannedAct {
  name: ActName;
  /** From the beginning of its round, milliseconds. */
  afterMs: number;
  /** Upon which of what there is then: from 0 up to 1. */
  pick: number;
}

/**
 * Faults that are made together, and what people do meanwhile. A round begins when the faults of the one before have
 * ended.
 */
export interface Round {
  faults: PlannedFault[];
  acts: PlannedAct[];
  /** The time without a fault after it, milliseconds. */
  restMs: number;
}

/** Plan of a run. */
export interface Plan {
  seed: number;
  rounds: Round[];
}

/** Bounds of the times in a plan, milliseconds. */
const FAULT_MS = [1_000, 4_500] as const;
/** One of so many faults is a long one: longer than a request waits for servers. */
const LONG = { oneOf: 6, ms: [9_000, 12_000] as const };
const DELAY_MS = [0, 1_500] as const;
const REST_MS = [500, 2_500] as const;
/** How many faults a round has: one as often as two or three. */
const SIZES = [1, 1, 2, 3] as const;

/**
 * The plan of a seed. Every kind of fault and act comes once, in the seed's order, before any of them comes again.
 *
 * @param durationMs rounds are planned until they take at least this long
 * @param names the kinds of fault to choose from
 */
export function planOf(
  seed: number,
  durationMs: number,
  names: readonly FaultName[] = FAULT_KINDS.map(({ name }) => name),
): Plan {
  const random = seeded(seed);
  const between = ([from, to]: readonly [number, number]) => Math.round(from + (to - from) * random());
  const faults = endlessly(names, random);
  const acts = endlessly(ACT_KINDS, random);
  const rounds: Round[] = [];
  let plannedMs = 0;
  while (plannedMs < durationMs) {
    const size = SIZES[Math.floor(random() * SIZES.length)] ?? 1;
    const round: Round = { faults: [], acts: [], restMs: between(REST_MS) };
    while (round.faults.length < size) {
      const name = faults((each) => goesWith(each, round.faults));
      if (!name) break;
      const forMs = between(random() * LONG.oneOf < 1 ? LONG.ms : FAULT_MS);
      round.faults.push({ name, afterMs: between(DELAY_MS), forMs, pick: random() });
    }
    const ends = Math.max(...round.faults.map(({ afterMs, forMs }) => afterMs + forMs));
    // At most once: an account that was deleted stays so.
    const isDone = (name: ActName) =>
      name === 'delete-account' && rounds.some((each) => each.acts.some((act) => act.name === name));
    for (let number = 0; number < 2; number += 1) {
      const name = acts((each) => !isDone(each));
      if (name) round.acts.push({ name, afterMs: between([0, ends]), pick: random() });
    }
    rounds.push(round);
    plannedMs += ends + round.restMs;
  }
  return { seed, rounds };
}

/** The kinds of fault in a plan. */
export function kindsIn({ rounds }: Plan): FaultName[] {
  return [...new Set(rounds.flatMap(({ faults }) => faults.map(({ name }) => name)))].sort();
}

/** A plan for people: a line for each fault and act, with times from the beginning of the round. */
export function tell({ seed, rounds }: Plan): string[] {
  const time = (ms: number) => `${(ms / 1_000).toFixed(1).padStart(5)} s`;
  const lines = rounds.flatMap(({ faults, acts, restMs }, number) => [
    `round ${number + 1}`,
    ...faults.map(
      ({ name, afterMs, forMs, pick }) =>
        `  ${time(afterMs)} to ${time(afterMs + forMs)}  ${name.padEnd(20)} (${pick.toFixed(3)})`,
    ),
    ...acts.map(
      ({ name, afterMs, pick }) => `  ${time(afterMs)}             ${name.padEnd(20)} (${pick.toFixed(3)})`,
    ),
    `  then ${(restMs / 1_000).toFixed(1)} s of rest`,
  ]);
  return [`plan of seed ${seed}: ${rounds.length} rounds`, ...lines];
}

/** Two faults of one thing would undo each other; a process that is gone has no links. */
function goesWith(name: FaultName, others: readonly PlannedFault[]): boolean {
  const struck = struckBy(name);
  return others.every((other) => {
    const pair = [struck, struckBy(other.name)];
    if (pair[0] === pair[1]) return false;
    if (pair.includes('disk')) return !pair.includes('temporal') && !pair.includes('mongodb');
    return !(pair.includes('nodes') && (pair.includes('node') || pair.includes('link')));
  });
}

function struckBy(name: FaultName): Struck {
  return FAULT_KINDS.find((kind) => kind.name === name)?.strikes ?? 'nodes';
}

/**
 * Gives each of a list in an order of chance, and then again in another one. What is refused stays for the next call.
 */
function endlessly<T>(
  all: readonly T[],
  random: () => number,
): (isWanted: (one: T) => boolean) => T | undefined {
  let left: T[] = [];
  return (isWanted) => {
    for (let tries = 0; tries < 2; tries += 1) {
      const found = left.findIndex(isWanted);
      if (found >= 0) return left.splice(found, 1)[0];
      left = [...left, ...shuffled(all, random)];
    }
    return undefined;
  };
}

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  return all
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
