/**
 * Needs of an installation for a rate, from what was measured. Everything that a delivery uses up has a part for its
 * execution in Temporal, which the deliveries of a group share, and a part of its own: `execution / size of the group +
 * delivery`. Two measurements, of deliveries one by one and of groups, give both parts.
 */

/**
 * Resources that a delivery uses: milliseconds of processor time, rows, commits and bytes of Temporal's databases,
 * bytes of the records.
 */
export const QUANTITIES = [
  'hooklineMs',
  /** Part of `hooklineMs`: that of the main thread, which is one core of a process at most. */
  'mainThreadMs',
  'temporalMs',
  'postgresqlMs',
  'mongodbMs',
  /** Time of the program that sends events and takes deliveries. */
  'programMs',
  'commits',
  'rows',
  'walBytes',
  'storedBytes',
  'recordBytes',
] as const;

export type Quantity = (typeof QUANTITIES)[number];
export type Spent = Record<Quantity, number>;

/** Measurement: for each delivery, in groups of so many. */
export interface Observation {
  groupSize: number;
  each: Spent;
}

export interface Costs {
  execution: Spent;
  delivery: Spent;
}

/** Something for each quantity. */
export function forEach(value: (quantity: Quantity) => number): Spent {
  return Object.fromEntries(QUANTITIES.map((quantity) => [quantity, value(quantity)])) as Spent;
}

/** @throws RangeError where both have groups of one size: then nothing tells the two parts apart */
export function costsOf(alone: Observation, grouped: Observation): Costs {
  const shared = 1 / alone.groupSize - 1 / grouped.groupSize;
  if (!(Math.abs(shared) > 0.01)) throw new RangeError('both observations have groups of one size');
  const execution = forEach((name) => Math.max(0, (alone.each[name] - grouped.each[name]) / shared));
  return {
    execution,
    delivery: forEach((name) => Math.max(0, grouped.each[name] - execution[name] / grouped.groupSize)),
  };
}

/** Use of resources by a delivery in groups of a size. */
export function spentIn({ execution, delivery }: Costs, groupSize: number): Spent {
  return forEach((name) => execution[name] / groupSize + delivery[name]);
}

/** Deliveries a second with which so many cores are full, if all parts share them. */
export function mostPerSecond(spent: Spent, cores: number): number {
  return (cores * 1_000) / processorMs(spent);
}

/** Processor time of all parts for a delivery, milliseconds. */
export function processorMs(spent: Spent): number {
  const { hooklineMs, temporalMs, postgresqlMs, mongodbMs, programMs } = spent;
  return hooklineMs + temporalMs + postgresqlMs + mongodbMs + programMs;
}

/** Needs of a rate. Cores are those that are busy: plan for more. */
export interface Size {
  executionsPerSecond: number;
  hooklineCores: number;
  temporalCores: number;
  postgresqlCores: number;
  /** Processes of Hookline whose main threads are busy for a part of the time. */
  processes: number;
  commitsPerSecond: number;
  rowsPerSecond: number;
  walBytesPerSecond: number;
  /** Growth of Temporal's databases in a day. */
  storedBytesPerDay: number;
  recordBytesPerDay: number;
}

const DAY_S = 86_400;

/** @param busy the part of the time for which a main thread may be busy */
export function sizeFor(perSecond: number, groupSize: number, costs: Costs, busy: number): Size {
  const spent = spentIn(costs, groupSize);
  const cores = (ms: number) => (perSecond * ms) / 1_000;
  return {
    executionsPerSecond: perSecond / groupSize,
    hooklineCores: cores(spent.hooklineMs),
    temporalCores: cores(spent.temporalMs),
    postgresqlCores: cores(spent.postgresqlMs),
    processes: Math.ceil(cores(spent.mainThreadMs) / busy),
    commitsPerSecond: perSecond * spent.commits,
    rowsPerSecond: perSecond * spent.rows,
    walBytesPerSecond: perSecond * spent.walBytes,
    storedBytesPerDay: perSecond * spent.storedBytes * DAY_S,
    recordBytesPerDay: perSecond * spent.recordBytes * DAY_S,
  };
}
