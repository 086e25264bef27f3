import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** From Debian's package `libfaketime`: everything in the process has that clock, also the SDK's native part. */
const LIBRARIES = ['x86_64', 'aarch64'].map(
  (machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`,
);
/** Where there is none, JavaScript alone has it. A build leaves this file where it is. */
const PRELOAD = resolve('test/support/programs/shift-clock.mjs');

/** The clock of a process, which is as far from that of this machine as a test says. */
export interface ShiftedClock {
  /** Environment with which the process is to be started. */
  environment: Record<string, string>;
  /** Sets the clock. @param seconds how far it is ahead */
  shift(seconds: number): Promise<void>;
  close(): Promise<void>;
}

/** @param seconds how far the clock is ahead at first */
export async function shiftedClock(seconds: number): Promise<ShiftedClock> {
  const folder = await mkdtemp(join(tmpdir(), 'hookline-clock-'));
  const file = join(folder, 'shift');
  const shift = async (by: number) => {
    await writeFile(`${file}.new`, `${by < 0 ? '' : '+'}${by}\n`);
    await rename(`${file}.new`, file);
  };
  await shift(seconds);
  const library = LIBRARIES.find(existsSync);
  return {
    environment: library
      ? {
          LD_PRELOAD: library,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          // A clock that is set leaves this one alone.
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          DONT_FAKE_MONOTONIC: '1',
        }
      : { NODE_OPTIONS: `--import=${PRELOAD}`, SHIFT_CLOCK_FILE: file },
    shift,
    close: () => rm(folder, { recursive: true }),
  };
}
