import { join } from 'node:path';
import type { Report } from '../types.js';
import { download } from './download.js';
import { onPath, type Way } from './find-binary.js';
import { goBuildWay } from './go-build.js';

const SERVICE = 'MongoDB';
/** The release pinned in tools/ferretdb/go.mod. */
const FERRETDB_VERSION = 'v1.24.2';
/** The server that is downloaded: pinned, so that an upgrade of the library does not change it. */
export const MONGOD_VERSION = '8.2.6';

/** The ways to get `mongod`, or what stands in for it, in the order in which they are taken. */
export function waysToMongo(cacheDir: string, report: Report): Way[] {
  const downloads = join(cacheDir, 'mongodb');
  return [
    {
      how: 'path',
      name: 'the mongod on PATH',
      absent: 'no mongod on PATH',
      kept: () => onPath('mongod'),
    },
    {
      how: 'downloaded',
      name: 'the official mongod downloaded before',
      absent: 'no download kept',
      kept: () => keptDownload(downloads),
      make: {
        doing: "downloading MongoDB's official server, once per user",
        noun: 'the official download',
        async run(signal) {
          await download({ service: SERVICE, folder: downloads, script: DOWNLOAD_SCRIPT, report, signal });
          const binary = await keptDownload(downloads);
          if (binary === undefined) throw new Error('it left no program');
          return binary;
        },
      },
    },
    goBuildWay(
      {
        service: SERVICE,
        doing: `building FerretDB ${FERRETDB_VERSION} (MongoDB's protocol over SQLite) with Go, once per user, about a minute`,
        program: 'ferretdb',
        version: FERRETDB_VERSION,
        sources: 'tools/ferretdb',
        args: (folder) => ['run', './build', folder],
      },
      cacheDir,
      report,
    ),
  ];
}

const DOWNLOAD_SCRIPT = `
const { MongoBinary } = (await import('mongodb-memory-server-core')).default;
await MongoBinary.getPath({ downloadDir: folder, version: '${MONGOD_VERSION}', checkMD5: true });`;

/** Loaded only here: most starts have no use for this library. */
async function keptDownload(downloadDir: string): Promise<string | undefined> {
  const { DryMongoBinary } = await import('mongodb-memory-server-core');
  return DryMongoBinary.locateBinary({
    ...DryMongoBinary.getEnsuredOptions(),
    downloadDir,
    version: MONGOD_VERSION,
  });
}
