import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environmentOfEach, folderOfEach, writeProgram } from '../../../test/support/folder.js';
import { type Receiver, startReceiver, testAuthority } from '../../../test/support/receiver.js';
import { findBinary } from '../src/binaries/find-binary.js';
import { MONGOD_VERSION, waysToMongo } from '../src/binaries/mongo-binary.js';

/** The environment that decides where the library downloads from. */
const CHANGED = [
  'MONGOMS_DOWNLOAD_MIRROR',
  'NODE_EXTRA_CA_CERTS',
  'https_proxy',
  'HTTPS_PROXY',
  'http_proxy',
  'HTTP_PROXY',
];

describe('the download of MongoDB, from a mirror', () => {
  const inRoot = folderOfEach();
  environmentOfEach(() => Object.fromEntries(CHANGED.map((name) => [name, undefined])));
  let mirror: Receiver;
  let archive: Buffer;

  beforeEach(async () => {
    const program = inRoot('release', 'mongodb-linux', 'bin', 'mongod');
    await mkdir(join(program, '..'), { recursive: true });
    // The library takes a program below 1 MiB for a download that was cut short.
    await writeProgram(program, `#!/bin/sh\necho from the mirror\nexit 0\n${'#'.repeat(2 ** 21)}\n`);
    await promisify(execFile)('tar', ['-czf', inRoot('a.tgz'), '-C', inRoot('release'), 'mongodb-linux']);
    archive = await readFile(inRoot('a.tgz'));
    mirror = await startReceiver();
    process.env['MONGOMS_DOWNLOAD_MIRROR'] = mirror.url;
    process.env['NODE_EXTRA_CA_CERTS'] = (await testAuthority()).certFile;
  });

  afterEach(() => mirror.close());

  /** @param sum of the archive, as the mirror publishes it */
  function serve(sum: string): void {
    mirror.handle(({ url = '' }, response) => {
      if (url.endsWith('.sha256')) response.end(`${sum}  archive.tgz\n`);
      else response.setHeader('content-length', archive.length).end(archive);
    });
  }
  const find = async () => {
    const ways = waysToMongo(inRoot('cache'));
    return findBinary(
      'MongoDB',
      'not configured',
      ways.filter(({ how }) => how === 'downloaded'),
      () => {},
    );
  };

  it('gets the pinned version, checks its sum, and keeps it for the next start', async () => {
    serve(createHash('sha256').update(archive).digest('hex'));
    const { how, binary } = await find();
    assert.equal(how, 'downloaded');
    const { stdout } = await promisify(execFile)(binary);
    assert.equal(stdout, 'from the mirror\n');
    const paths = mirror.received.map(({ path }) => path);
    assert.ok(
      paths.length === 2 && paths.every((path) => path.includes(`-${MONGOD_VERSION}.tgz`)),
      `${paths}`,
    );
    assert.equal((await find()).binary, binary);
    assert.equal(mirror.received.length, 2, 'the second start asks nobody');
  });

  it('refuses an archive that is not the one whose sum is published', async () => {
    serve('0'.repeat(64));
    await assert.rejects(find(), {
      name: 'EmbeddedUnavailableError',
      message: /the official download failed: the SHA-256 of what came is not the one that MongoDB publishes/,
    });
    assert.deepEqual(await readdir(inRoot('cache', 'mongodb')), [], 'what was refused is not kept');
  });
});
