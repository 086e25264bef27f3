import { readFileSync } from 'node:fs';

/**
 * Processor time that this process's main thread has used, milliseconds. Unlike a clock it does not tell how busy the machine is. Where the
 * system does not count by thread, it is the time of the whole process.
 */
export function mainThreadTime(): number {
  try {
    const [nanoseconds = ''] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  }
}
