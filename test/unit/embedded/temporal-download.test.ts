import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import {
  CLI_VERSION,
  findBinary,
  userCacheDir,
  waysToTemporal,
} from '../../../packages/embedded-servers/src/index.js';
import { issueServerCertificate } from '../../../src/demo/certificates.js';
import { environmentOfEach, folderOfEach, writeProgram } from '../../support/folder.js';
import { type Receiver, startReceiver, testAuthority } from '../../support/receiver.js';

/** Where the library downloads from, whatever its settings. */
const SITE = 'temporal.download';
const CHANGED = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];

describe("the download of Temporal's CLI, from a mirror", () => {
  const inRoot = folderOfEach();
  environmentOfEach(() => Object.fromEntries(CHANGED.map((name) => [name, undefined])));
  let mirror: Receiver;
  let proxy: Server;
  const asked: string[] = [];

  beforeEach(async () => {
    asked.length = 0;
    const authority = await testAuthority();
    const certificate = await issueServerCertificate(authority, { dns: [SITE], ips: [] });
    mirror = await startReceiver({ certificate });
    // The library's site cannot be changed, so that a proxy leads every connection to the mirror.
    proxy = createServer().on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      const upstream = connect(mirror.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.pipe(upstream).pipe(socket);
      });
      for (const one of [socket, upstream]) one.on('error', () => {});
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    process.env['HTTPS_PROXY'] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await mirror.close();
  });

  /**
   * Serves a program that stands for the CLI: the one of these tests, as the library starts a server with what it has
   * downloaded.
   */
  async function serve(): Promise<void> {
    const { binary } = await findBinary('Temporal', '', waysToTemporal(userCacheDir()), () => {});
    await writeProgram(inRoot('temporal'), `#!/bin/sh\n# from the mirror\nexec '${binary}' "$@"\n`);
    await promisify(execFile)('tar', ['-czf', inRoot('a.tgz'), '-C', inRoot(), 'temporal']);
    const archive = await readFile(inRoot('a.tgz'));
    mirror.handle(({ url = '' }, response) => {
      if (url.endsWith('.tar.gz')) response.end(archive);
      else
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ archiveUrl: `https://${SITE}/cli.tar.gz`, fileToExtract: 'temporal' }));
    });
  }
  const find = () => {
    const ways = waysToTemporal(inRoot('cache')).filter(({ how }) => how === 'downloaded');
    return findBinary('Temporal', 'not configured', ways, () => {});
  };

  it('gets the pinned version, and keeps it for the next start [world]', async () => {
    await serve();
    process.env['SSL_CERT_FILE'] = (await testAuthority()).certFile;
    const { how, binary } = await find();
    assert.equal(how, 'downloaded');
    assert.match(await readFile(binary, 'utf8'), /from the mirror/);
    assert.deepEqual(new Set(asked), new Set([`${SITE}:443`]));
    const [information, archive, ...more] = mirror.received.map(({ path }) => path);
    assert.ok(information?.startsWith(`/cli/v${CLI_VERSION}?`), information);
    assert.deepEqual([archive, more], ['/cli.tar.gz', []]);
    assert.equal((await find()).binary, binary);
    assert.equal(mirror.received.length, 2, 'the second start asks nobody');
  });

  it('refuses a site whose certificate is not trusted', async () => {
    await assert.rejects(find(), {
      name: 'EmbeddedUnavailableError',
      message: /the official download failed/,
    });
    assert.equal(mirror.received.length, 0);
  });
});
