import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { childEnvironment } from '../child-environment.js';
import { startGuarded } from '../servers/guarded-process.js';
import type { Report } from '../types.js';
import { onPath, type Way } from './find-binary.js';
import { GoProgress } from './go-progress.js';
import { madeWay } from './scratch.js';

const REPORT_EVERY_MS = 15_000;
/** Go prints a line for every module it fetches and every package it compiles; a silence this long is a hang. */
const SILENCE_LIMIT_MS = 10 * 60_000;

/** Variables that Go's toolchain reads, and those of programs that it runs: git and a compiler of C. */
const OF_GO = ['GO*', 'CGO_*', 'GIT_*', 'SSH_*', 'NETRC', 'CC', 'CXX', 'AR', 'PKG_CONFIG*'];

/** A program that Go can build from a pinned version. */
export interface GoProgram {
  /** Name of the build, and how long it takes on a fresh machine: `FerretDB v1.24.2 … (about a minute)`. */
  doing: string;
  /** File name of the program as Go makes it. */
  program: string;
  /** The release, for the name of the file that is kept. */
  version: string;
  /**
   * The folder of a Go module: where `go` runs, and what decides what is built. A change of its files leads to a new
   * build beside the old.
   */
  sources: string;
  /**
   * Arguments of `go` that leave the program in the folder. It may print `packages: 123` before it compiles so many,
   * and `source: PATH BYTES` of each.
   */
  args(folder: string): readonly string[];
  /** Environment variables on top of the user's own for Go, which stay as they are. */
  env?: Readonly<Record<string, string>>;
}

/** A build with the Go toolchain, kept for this user in the cache folder. */
export function goBuildWay(go: GoProgram, cacheDir: string): Way {
  const version = `${go.version}-${fingerprint(go.sources)}`;
  const file = join(cacheDir, 'builds', `${go.program}-${version}-${process.platform}-${process.arch}`);
  const impossible = async () => ((await onPath('go')) === undefined ? 'no go on PATH' : undefined);
  return madeWay(
    {
      how: 'built',
      name: 'the build made with Go',
      absent: 'no build kept',
      file,
      doing: go.doing,
      noun: 'the build with Go',
      impossible,
    },
    async (scratch, report, signal) => {
      await build(go, { scratch, report, signal });
      return join(scratch, go.program);
    },
  );
}

async function build(
  go: GoProgram,
  { scratch, report, signal }: { scratch: string; report: Report; signal: AbortSignal | undefined },
): Promise<void> {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  const job = startGuarded('go', go.args(scratch), {
    output: 'pipe',
    cwd: go.sources,
    // A module of its own, whatever workspace the checkout lies in. Go's temporary files are removed with the rest,
    // also when it is killed.
    env: { ...childEnvironment(OF_GO), GOWORK: 'off', TMPDIR: scratch, ...go.env },
    graceMs: 2_000,
    signal,
  });
  const progress = new GoProgress(modulesOf(go.sources));
  for (const input of [job.child.stdout, job.child.stderr]) {
    if (input) createInterface({ input }).on('line', (line) => progress.read(line));
  }

  let silent = false;
  let said = false;
  const telling = setInterval(() => {
    if (!said)
      report('this is done once: later starts take seconds, and neither download nor build anything.');
    said = true;
    report(`building, ${seconds()}, ${progress}.`);
    silent = progress.silentMs() > SILENCE_LIMIT_MS;
    if (silent) void job.stop();
  }, REPORT_EVERY_MS);
  const status = await job.exited;
  clearInterval(telling);

  if (silent) throw new Error(`go printed nothing for ${SILENCE_LIMIT_MS / 60_000} minutes`);
  if (status !== 0) throw new Error(progress.complaint() || `go ended with status ${status}`);
  report(`built in ${seconds()}; kept for the next start.`);
}

/** A hash of everything in a Go module that decides what is built. */
function fingerprint(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (/\.(go|mod|sum)$/.test(name)) hash.update(readFileSync(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 8);
}

/** How many modules a Go module names, of which a build fetches those that it needs. */
function modulesOf(folder: string): number {
  return readFileSync(join(folder, 'go.mod'), 'utf8').match(/^(require )?\s*\S+ v\d\S*/gm)?.length ?? 0;
}
