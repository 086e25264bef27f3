import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from '../types.js';
import { download } from './download.js';
import { isExecutable, onPath, type Way } from './find-binary.js';
import { goBuildWay } from './go-build.js';

const SERVICE = 'Temporal';
/** What is downloaded or built: the last release that `go install` accepts; later ones carry a `replace` in their go.mod. */
export const CLI_VERSION = 'v1.5.1';

/** The ways to get the `temporal` command, in the order in which they are taken. */
export function waysToTemporal(cacheDir: string, report: Report): Way[] {
  const downloads = join(cacheDir, 'temporal');
  return [
    {
      how: 'path',
      name: 'the temporal on PATH',
      absent: 'no temporal on PATH',
      kept: () => onPath('temporal'),
    },
    {
      how: 'downloaded',
      name: 'the official CLI downloaded before',
      absent: 'no download kept',
      kept: () => newestDownload(downloads),
      make: {
        doing: "downloading Temporal's official CLI, once per user",
        noun: 'the official download',
        async run() {
          await download({ service: SERVICE, folder: downloads, script: DOWNLOAD_SCRIPT, report });
          const binary = await newestDownload(downloads);
          if (binary === undefined) throw new Error('it left no program');
          return binary;
        },
      },
    },
    goBuildWay(
      {
        service: SERVICE,
        doing: `building Temporal's CLI ${CLI_VERSION} with Go, once per user, about 3 minutes`,
        program: 'temporal',
        version: CLI_VERSION,
        args: () => ['install', '-v', `github.com/temporalio/cli/cmd/temporal@${CLI_VERSION}`],
        env: (folder) => ({ GOBIN: folder }),
      },
      cacheDir,
      report,
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
const executable = { type: 'cached-download', downloadDir: folder, version: '${CLI_VERSION}' };
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
