import { join } from 'node:path';
import { downloadWay } from './download.js';
import { pathWay, type Way } from './find-binary.js';
import { goBuildWay } from './go-build.js';
import { ownFolder } from './platform.js';

/** The release pinned in ferretdb/go.mod. */
const FERRETDB_VERSION = 'v1.24.2';
/** The server that is downloaded: pinned, so that an upgrade of the library does not change it. */
export const MONGOD_VERSION = '8.2.6';

/** The ways to get `mongod`, or what stands in for it, in the order in which they are taken. */
export function waysToMongo(cacheDir: string): Way[] {
  const downloads = join(cacheDir, 'mongodb');
  return [
    pathWay('mongod'),
    downloadWay({
      what: "MongoDB's official server",
      name: 'the official mongod',
      folder: downloads,
      script: DOWNLOAD_SCRIPT,
      kept: () => keptDownload(downloads),
    }),
    goBuildWay(
      {
        doing: `building FerretDB ${FERRETDB_VERSION} (MongoDB's protocol over SQLite) with Go, once per user, about a minute`,
        program: 'ferretdb',
        version: FERRETDB_VERSION,
        sources: ownFolder('ferretdb'),
        // Compiled as the program is: what both need is compiled once. Nothing in it needs a C compiler.
        args: (folder) => ['run', '-trimpath', './build', folder],
        env: { CGO_ENABLED: '0' },
      },
      cacheDir,
    ),
  ];
}

/**
 * The library compares the MD5 of the archive, which anybody can forge. MongoDB publishes its SHA-256 beside it, so
 * that is compared in place of it; and what is refused goes, as the library would take it for a finished download the
 * next time.
 */
const DOWNLOAD_SCRIPT = `
const { createHash } = await import('node:crypto');
const { createReadStream } = await import('node:fs');
const { readFile, rm } = await import('node:fs/promises');
const { pipeline } = await import('node:stream/promises');
const { MongoBinary } = (await import('mongodb-memory-server-core')).default;
const downloader = await import('mongodb-memory-server-core/lib/util/MongoBinaryDownload.js');
downloader.MongoBinaryDownload.prototype.makeMD5check = async function (url, archive) {
  const published = await this.download(url.replace(/md5$/, 'sha256'));
  const [expected] = (await readFile(published, 'utf8')).trim().split(/\\s/);
  await rm(published);
  const hash = createHash('sha256');
  await pipeline(createReadStream(archive), hash);
  if (hash.digest('hex') === expected) return true;
  await rm(archive);
  throw new Error('the SHA-256 of what came is not the one that MongoDB publishes');
};
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
