import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Report } from '../types.js';
import { download } from './download.js';
import { onPath, type Way } from './find-binary.js';
import { goBuildWay } from './go-build.js';
import { packageFolder } from './platform.js';

const SERVICE = 'MongoDB';
/** The release pinned in tools/ferretdb/go.mod. */
const FERRETDB_VERSION = 'v1.24.2';
/** The server that is downloaded: pinned, so that an upgrade of the library does not change it. */
export const MONGOD_VERSION = '8.2.6';

/** The ways to get `mongod`, or what stands in for it, in the order in which they are taken. */
export async function waysToMongo(cacheDir: string, report: Report): Promise<Way[]> {
  const downloads = join(cacheDir, 'mongodb');
  const tools = packageFolder('tools/ferretdb');
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
        version: `${FERRETDB_VERSION}-${await fingerprint(tools)}`,
        args: (folder) => ['run', './build', folder],
        cwd: tools,
        env: () => ({ GOWORK: 'off' }), // it is a module of its own, whatever workspace the checkout lies in
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

/** A hash of everything that decides the build, so that a change of the mends leads to a new one beside the old. */
async function fingerprint(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const names = await readdir(folder, { recursive: true });
  for (const name of names.sort()) {
    if (/\.(go|mod|sum)$/.test(name)) hash.update(await readFile(join(folder, name)));
  }
  return hash.digest('hex').slice(0, 8);
}
