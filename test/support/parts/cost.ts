import { mainThreadTime, referenceTime } from './thread-time.js';

/** How often what seemed to cost too much is measured again: the least counts. */
const MEASURED_AGAIN = 4;

/** The reference as it was measured last. */
let reference: number | undefined;

/** A cost, and how it came about. */
export interface Cost<T> {
  result: T;
  /** Times the {@link referenceTime} of the same moment. */
  cost: number;
  /** For people. */
  measured: string;
}

/**
 * The processor time of the main thread that a task takes. What takes too long is done again: what else the thread did
 * meanwhile, such as collecting garbage, it does not do each time.
 *
 * @param most what is not too long
 */
export async function costOf<T>(most: number, task: () => T | Promise<T>): Promise<Cost<T>> {
  reference ??= settledReference();
  let { result, cost } = await measure(task, reference);
  for (let again = 0; cost > most && again < MEASURED_AGAIN; again += 1) {
    reference = referenceTime();
    const next = await measure(task, reference);
    if (next.cost < cost) ({ result, cost } = next);
  }
  const measured = `${cost.toFixed(1)} times the ${reference.toFixed(1)} ms of the largest payload`;
  return { result, cost, measured };
}

async function measure<T>(task: () => T | Promise<T>, reference: number) {
  const began = mainThreadTime();
  const result = await task();
  return { result, cost: (mainThreadTime() - began) / reference };
}

/** Reference time of code that has run before, and so is compiled. */
function settledReference(): number {
  for (let again = 1; again < MEASURED_AGAIN; again += 1) referenceTime();
  return referenceTime();
}
