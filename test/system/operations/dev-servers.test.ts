import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from '../../support/needs.js';
import { connectSilently } from '../../support/outside/silent-clients.js';
import { runHere } from '../../support/programs/command.js';
import { type CommandProcess, startCommand } from '../../support/programs/process.js';
import { until } from '../../support/until.js';

// It starts servers of its own, whose programs take minutes to make.
needs('servers');

/** Processes that run with this text among their arguments, guards excepted. */
function processesWith(text: string): number[] {
  const all = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 2 ** 24 });
  const found = all.split('\n').filter((line) => line.includes(text) && !line.includes('hookline-guard'));
  return found.map((line) => Number.parseInt(line, 10));
}

/** Where a process listens on 127.0.0.1. */
async function portsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await Promise.all(
    (await readdir(folder)).map((fd) => readlink(join(folder, fd)).catch(() => '')),
  );
  const inodes = new Set(names.map((name) => /^socket:\[(\d+)\]$/.exec(name)?.[1]));
  const rows = (await readFile(`/proc/${pid}/net/tcp`, 'utf8'))
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  // Of a row: the local address, the state (0A: listens), the inode.
  return rows
    .filter(
      ([, local, , state, , , , , , inode]) =>
        local?.startsWith('0100007F:') && state === '0A' && inodes.has(inode),
    )
    .map(([, local = '']) => String(Number.parseInt(local.split(':')[1] ?? '', 16)));
}

/** The status of a response, by a name of the machine; `undefined` if there was none that is HTTP. */
async function ask(port: string, path: string, host: string): Promise<number | undefined> {
  const outgoing = request({ host: '127.0.0.1', port, path, headers: { host } });
  try {
    const [response] = await once(outgoing.end(), 'response', { signal: AbortSignal.timeout(10_000) });
    return response.statusCode;
  } catch {
    return undefined;
  } finally {
    outgoing.destroy();
  }
}

/** A setting that is secret. */
const SECRET = 'smtp://user:of-the-mails@127.0.0.1:9';

/** On a slow machine servers take a minute to start. */
const START_MS = 150_000;

describe('hookline dev [world]', function () {
  this.timeout(600_000);
  let dataDir: string;
  let dev: CommandProcess | undefined;
  /** The cache of this run, where it has one of its own: what it holds need not be built again. */
  const { XDG_CACHE_HOME } = process.env;
  const start = (environment: Record<string, string>) => {
    dev = startCommand(['dev'], {
      ...(XDG_CACHE_HOME && { XDG_CACHE_HOME }),
      HOOKLINE_DATA_DIR: dataDir,
      HOOKLINE_PORT: '0',
      HOOKLINE_TEMPORAL_PORT: '0',
      HOOKLINE_TEMPORAL_UI_PORT: '0',
      HOOKLINE_MONGODB_PORT: '0',
      ...environment,
    });
    return dev;
  };
  const said = (pattern: RegExp) =>
    until(
      async () => dev?.lines.filter((line) => pattern.test(line)).length,
      (found) => found !== 0,
      START_MS,
    );

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'hookline-dev-'));
  });
  afterEach(async () => {
    dev?.signal('SIGKILL');
    await dev?.exited;
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Signs in as the page does with a link: its code, posted. */
  async function signIn(link: string) {
    const { origin, hash } = new URL(link);
    const body = JSON.stringify({ code: new URLSearchParams(hash.slice(1)).get('code') });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${origin}/sign_in`, { method: 'POST', headers, body });
    return { status: response.status, json: (await response.json()) as { role: string; token: string } };
  }
  async function scopesOf(origin: string, token: string): Promise<string[]> {
    const headers = { authorization: `Bearer ${token}` };
    return ((await (await fetch(`${origin}/v18.0/session`, { headers })).json()) as { scopes: string[] })
      .scopes;
  }

  /** Checks what a page of another site can ask of the servers that were started, and what they were started with. */
  async function checkServers(ui: string): Promise<void> {
    const { host, port } = new URL(ui);
    assert.deepEqual(
      [await ask(port, '/', host), await ask(port, '/', `rebound.example:${port}`)],
      [200, 403],
    );
    // Elsewhere they cannot be looked at so.
    if (process.platform !== 'linux') return;
    const started = ['temporal', 'ferretdb', 'mongodb'].flatMap((name) => processesWith(join(dataDir, name)));
    assert.equal(started.length, 2);
    for (const pid of started)
      assert.doesNotMatch(await readFile(`/proc/${pid}/environ`, 'utf8'), /HOOKLINE_/);
    const ports = (await Promise.all(started.map(portsOf))).flat();
    assert.ok(ports.length > 4);
    // Ports that speak something else answer nothing.
    const answers = await Promise.all(ports.map((one) => ask(one, '/api/v1/namespaces', `127.0.0.1:${one}`)));
    assert.equal(answers.filter((status) => status === 403).length, 1, 'the HTTP API of Temporal');
    assert.ok(!answers.includes(200));
  }

  it('prints links that sign in once, starts a server that is killed again with its data, and ends with an error when it is killed once more', async () => {
    // As the start itself recommends.
    const { lines, exited } = start({
      HOOKLINE_ENDPOINT_VERIFICATION: 'required',
      HOOKLINE_SMTP_URL: SECRET,
    });
    await said(/^ {2}export HOOKLINE_URL=/);
    assert.equal(lines.filter((line) => line.startsWith('Delivered ')).length, 1, lines.join('\n'));
    // The line that is printed to paste works, and in this folder nothing needs to be pasted.
    const pasted = /^ {2}export (.*)$/m.exec(lines.join('\n'))?.[1]?.split(' ') ?? [];
    const variables = Object.fromEntries(pasted.map((one) => one.split('=')));
    const whoami = (more: object) => runHere('whoami', { XDG_CONFIG_HOME: join(dataDir, 'nobody'), ...more });
    assert.equal(await whoami(variables), await whoami({ HOOKLINE_DATA_DIR: dataDir }));
    const links = lines.filter((line) => line.includes('#code=')).map((line) => line.trim());
    assert.equal(links.length, 2);
    for (const [index, link] of links.entries()) {
      const { json } = await signIn(link);
      assert.equal(json.role, ['portal', 'desk'][index]);
      const scopes = await scopesOf(new URL(link).origin, json.token);
      assert.equal(scopes.includes('admin'), json.role === 'desk');
      assert.equal((await signIn(link)).status, 401);
    }
    await checkServers(/UI at (\S+),/.exec(lines.join('\n'))?.[1] ?? '');
    const ui = /UI at (\S+),/.exec(lines.join('\n'))?.[1] ?? '';
    // None of these keeps it from ending.
    const origins = [new URL(links[0] ?? '').origin, ui];
    const silent = await Promise.all(
      origins.map((url) => connectSilently({ url, key: '' }, ['no request', 'part of a head'])),
    );
    const kill = () => {
      const [pid = 0, ...more] = processesWith(join(dataDir, 'ferretdb')).concat(
        processesWith(join(dataDir, 'mongodb')),
      );
      assert.ok(pid > 0 && more.length === 0);
      process.kill(pid, 'SIGKILL');
    };
    kill();
    await said(/^MongoDB: ended by itself, with SIGKILL; .* Starting it again with its data\.$/);
    await said(/^MongoDB: responds again\.$/);
    kill();
    assert.equal(await exited, 1);
    for (const socket of silent.flat()) socket.destroy();
    assert.match(lines.join('\n'), /^hookline: MongoDB: ended by itself, with SIGKILL; its log is .*$/m);
    assert.deepEqual(processesWith(dataDir), []);
  });

  it('leaves nothing when it is told to stop while a server is fetched', async () => {
    const cache = join(dataDir, 'cache');
    const bin = join(dataDir, 'bin-of-test');
    // Something that looks like pip, and takes for ever.
    await mkdir(bin);
    await writeFile(
      join(bin, 'pip3'),
      '#!/bin/sh\nPATH=/usr/bin:/bin\necho part > "$TMPDIR/part"\nexec sleep 1000\n',
    );
    await chmod(join(bin, 'pip3'), 0o755);
    const refused = 'http://127.0.0.1:9';
    const { lines, exited } = start({
      XDG_CACHE_HOME: cache,
      PATH: bin,
      HTTPS_PROXY: refused,
      https_proxy: refused,
      MONGODB_URI: 'mongodb://127.0.0.1:9/none',
    });
    const wheels = join(cache, 'hookline', 'wheels');
    const names = () => readdir(wheels, { recursive: true }).catch((): string[] => []);
    await until(names, (found) => found.some((name) => name.endsWith('part')));
    dev?.signal('SIGINT');
    assert.equal(await exited, 0);
    assert.equal(lines.at(-1), 'Stopped.');
    assert.deepEqual(await readdir(wheels), []);
    assert.deepEqual(processesWith(dataDir), []);
  });
});
