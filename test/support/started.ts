import { appendFileSync } from 'node:fs';

/**
 * What a run of tests counts, because each costs seconds of the processor: systems in processes of tests, and processes
 * of Hookline.
 */
export type Started = 'system' | 'process';

/** The file in which all processes of a run count, a line for each start. */
const VARIABLE = 'TEST_STARTED';

/** Called once, before the first test. */
export function countIn(file: string): void {
  process.env[VARIABLE] = file;
}

export function countStart(what: Started): void {
  const file = process.env[VARIABLE];
  if (file) appendFileSync(file, `${what}\n`);
}
