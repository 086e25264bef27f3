import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startGuarded } from '../servers/guarded-process.js';
import type { Report } from '../types.js';
import type { Way } from './find-binary.js';
import { isExecutable, onPath } from './find-binary.js';
import { inScratch } from './scratch.js';

const REPORT_EVERY_MS = 15_000;
/** Go prints a line for every module it fetches and every package it compiles; a silence this long is a hang. */
const SILENCE_LIMIT_MS = 10 * 60_000;

/** A program that Go can build from a pinned version. */
export interface GoProgram {
  /** Name for messages. */
  service: string;
  /** What is built, and how long it takes on a fresh machine: `FerretDB v1.24.2 … (about a minute)`. */
  doing: string;
  /** File name of the program as Go makes it. */
  program: string;
  /** Says all that decides what is built; a change means a new build. */
  version: string;
  /** Arguments of `go` that leave the program in the folder. */
  args(folder: string): readonly string[];
  /** Where to run `go`; anywhere by default. */
  cwd?: string;
  /** Environment variables on top of the user's own, which stay as they are, given the folder. */
  env?(folder: string): Record<string, string>;
}

/** A build with the Go toolchain, kept for this user in the cache folder. */
export function goBuildWay(go: GoProgram, cacheDir: string, report: Report): Way {
  const folder = join(cacheDir, 'builds');
  const file = join(folder, `${go.program}-${go.version}-${process.platform}-${process.arch}`);
  return {
    how: 'built',
    name: 'the build made with Go',
    absent: 'no build kept',
    kept: async () => ((await isExecutable(file)) ? file : undefined),
    make: {
      doing: go.doing,
      noun: 'the build with Go',
      impossible: async () => ((await onPath('go')) === undefined ? 'no go on PATH' : undefined),
      async run(signal) {
        return inScratch(folder, async (scratch) => {
          await build(go, scratch, report, signal);
          await rename(join(scratch, go.program), file);
          return file;
        });
      },
    },
  };
}

async function build(
  go: GoProgram,
  scratch: string,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<void> {
  const started = Date.now();
  const job = startGuarded('go', go.args(scratch), {
    output: 'pipe',
    cwd: go.cwd ?? scratch,
    // What Go needs for a while is removed with the rest, also when it is killed.
    env: { ...process.env, TMPDIR: scratch, ...go.env?.(scratch) },
    graceMs: 2_000,
    signal,
  });
  let fetched = 0;
  let compiled = 0;
  let heardAt = started;
  const complaints: string[] = [];
  const read = (line: string) => {
    heardAt = Date.now();
    if (line.startsWith('go: downloading ')) fetched++;
    else if (/^\S+$/.test(line))
      compiled++; // with -v, the import path of each package
    else if (line.trim() !== '') complaints.push(line.trim());
  };
  for (const input of [job.child.stdout, job.child.stderr]) {
    if (input) createInterface({ input }).on('line', read);
  }

  let silent = false;
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - started) / 1000);
    report(
      `${go.service}: building, ${seconds} s, ${fetched} modules fetched, ${compiled} packages compiled.`,
    );
    silent = Date.now() - heardAt > SILENCE_LIMIT_MS;
    if (silent) void job.stop();
  }, REPORT_EVERY_MS);
  const status = await job.exited;
  clearInterval(progress);

  if (silent) throw new Error(`go printed nothing for ${SILENCE_LIMIT_MS / 60_000} minutes`);
  if (status !== 0) throw new Error(complaints.slice(-2).join(' ') || `go ended with status ${status}`);
  report(`${go.service}: built in ${Math.round((Date.now() - started) / 1000)} s; kept for the next start.`);
}
