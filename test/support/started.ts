import { appendFileSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/**
 * Starts that a run of tests counts, because each costs seconds of the processor: systems in processes of tests, and
 * processes of Hookline.
 */
export type Started = 'system' | 'process';

/** The file in which all processes of a run count, a line for each count. The reporter reads it. */
const VARIABLE = 'TEST_STARTED';

/** Called once, before the first test. */
export function countIn(file: string): void {
  process.env[VARIABLE] = file;
}

export function countStart(what: Started): void {
  append(what);
}

/** Cost of the tests of each folder since it was last written down. */
const costs = new Map<string, number>();
let folder = '';
let countedMs = 0;

/**
 * Counts what this process, and those that it has started and that have ended, have had of the processor since the last
 * call.
 *
 * @param file which tests it was for; without one, it was for those of the last call, and all is written down
 */
export function countProcessor(file?: string): void {
  if (file) folder = relative('test', dirname(file)).replace(/^\.\.\//, '');
  const nowMs = processorMs();
  costs.set(folder, (costs.get(folder) ?? 0) + nowMs - countedMs);
  countedMs = nowMs;
  if (file) return;
  for (const [name, ms] of costs) append(`processor ${Math.round(ms)} ${name}`);
  costs.clear();
}

/** Linux counts in hundredths of a second. Elsewhere ended processes are not counted. */
function processorMs(): number {
  if (process.platform === 'linux') {
    // proc(5): utime, stime, cutime and cstime, after the name, which may hold spaces.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function append(line: string): void {
  const file = process.env[VARIABLE];
  if (file) appendFileSync(file, `${line}\n`);
}
