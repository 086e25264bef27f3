import { readFileSync } from 'node:fs';
import { MAX_PAYLOAD_BYTES } from '../../../packages/payload-contract/src/index.js';

/**
 * Processor time that this process's main thread has used, milliseconds. Unlike a clock it does not tell how busy the
 * machine is. Where the system does not count by thread, it is the time of the whole process.
 */
export function mainThreadTime(): number {
  const { user, system } = process.cpuUsage();
  return mainThreadTimeOf(process.pid) ?? (user + system) / 1e3;
}

/** The same of any process; `undefined` where the system does not count by thread. */
export function mainThreadTimeOf(pid: number): number | undefined {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return undefined;
  }
}

/** Some at once: the system counts what a thread uses in steps of a few milliseconds. */
const PARSED_AT_ONCE = 4;
/** As large as a payload may be, and dear to parse. */
const LARGEST = `[${Array(Math.floor(MAX_PAYLOAD_BYTES / 3))
  .fill('{}')
  .join()}]`;

/**
 * Reference for costs, as processors differ, and each has slow moments: the processor time of parsing the largest
 * payload now, milliseconds. It is 5 ms of a fast processor that has nothing else to do.
 */
export function referenceTime(): number {
  const began = mainThreadTime();
  for (let parsed = 0; parsed < PARSED_AT_ONCE; parsed += 1) JSON.parse(LARGEST);
  return (mainThreadTime() - began) / PARSED_AT_ONCE;
}
