import { deepEqual, equal, throws } from 'node:assert/strict';
import { costsOf, forEach, mostPerSecond, sizeFor, spentIn } from '../../../bench/cluster/sizing.js';

describe('sizing model', () => {
  /** 6 of everything for an execution, and 2 for each delivery. */
  const observed = (groupSize: number) => ({ groupSize, each: forEach(() => 6 / groupSize + 2) });
  const costs = costsOf(observed(1), observed(12));

  it('tells what an execution uses up from what each of its deliveries does', () => {
    deepEqual(costs, { execution: forEach(() => 6), delivery: forEach(() => 2) });
    deepEqual(
      spentIn(costs, 3),
      forEach(() => 4),
    );
  });

  it('has nothing below zero, where larger groups cost more', () => {
    const { execution, delivery } = costsOf(
      { groupSize: 1, each: forEach(() => 1) },
      { groupSize: 10, each: forEach(() => 2) },
    );
    deepEqual([execution.rows, delivery.rows], [0, 2]);
  });

  it('refuses two observations of groups of one size', () => {
    throws(() => costsOf(observed(4), observed(4)), RangeError);
  });

  it('foretells the rate with which the cores are full', () => {
    // Five parts of 4 ms.
    equal(mostPerSecond(spentIn(costs, 3), 2), 100);
  });

  it('adds up what a rate needs', () => {
    const size = sizeFor(1_000, 3, costs, 0.5);
    deepEqual(size, {
      executionsPerSecond: 1_000 / 3,
      hooklineCores: 4,
      temporalCores: 4,
      postgresqlCores: 4,
      processes: 8,
      commitsPerSecond: 4_000,
      rowsPerSecond: 4_000,
      walBytesPerSecond: 4_000,
      storedBytesPerDay: 345_600_000,
      recordBytesPerDay: 345_600_000,
    });
  });
});
