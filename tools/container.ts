import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, onPath, startMongo, startTemporal } from '../packages/embedded-servers/src/index.js';

/**
 * Builds the image by the steps of the Dockerfile and runs it as docker-compose.yml does: `npm run container`. It needs
 * root, and buildah, podman, runc and debootstrap, which are packages of Debian. No registry of images is needed: the
 * image that the Dockerfile begins with is made of Debian's packages and the Node.js of this machine. Prints each
 * command and what it said.
 */
const PROGRAMS = ['buildah', 'podman', 'runc', 'debootstrap'] as const;
const BASE = `localhost/hookline-container-base:${process.version}`;
const IMAGE = 'localhost/hookline';
const CONTAINER = 'hookline-container';
const DEBIAN = 'bookworm';
const STARTED_WITHIN_MS = 60_000;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Tools and rights that this machine lacks for it. */
export async function missingForContainer(): Promise<string[]> {
  const missing: string[] = process.getuid?.() === 0 ? [] : ['root'];
  for (const program of PROGRAMS) if ((await onPath(program)) === undefined) missing.push(program);
  return missing;
}

/** Runs a command. @returns its output @throws with what it said where it fails */
async function quietly(command: string, args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

/** Makes the image that stands for `node:24-slim`, once: Debian, Node.js and npm, and the user `node`. */
async function makeBase(): Promise<void> {
  if ((await quietly('podman', ['images', '--quiet', BASE])) !== '') return;
  const folder = await mkdtemp(join(tmpdir(), 'hookline-container-base-'));
  try {
    const root = join(folder, 'root');
    await quietly('debootstrap', ['--variant=minbase', '--include=ca-certificates,libstdc++6', DEBIAN, root]);
    await cp(process.execPath, join(root, 'usr/local/bin/node'));
    const npm = resolve(dirname(process.execPath), '../lib/node_modules/npm');
    await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, verbatimSymlinks: true });
    await quietly('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm')]);
    await quietly('chroot', [root, 'useradd', '--uid', '1000', '--create-home', 'node']);
    await quietly('tar', ['--create', '--directory', root, '--file', join(folder, 'base.tar'), '.']);
    await quietly('podman', ['import', join(folder, 'base.tar'), BASE]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Builds the image. Its steps get npm's settings and cache, and the authorities that this machine trusts. */
async function buildImage(): Promise<void> {
  const [, published = ''] = /^FROM \S+ (node:\S+)/m.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const volumes = ['/etc/ssl/certs', join(homedir(), '.npmrc')]
    .filter(existsSync)
    .map((path) => `${path}:${path}:ro`);
  const cache = (await quietly('npm', ['config', 'get', 'cache'])).trim();
  await quietly('buildah', [
    ...['build', '--layers', '--format', 'docker', '--isolation', 'chroot'],
    ...['--build-context', `${published}=container-image://${BASE}`],
    ...[...volumes, `${cache}:${cache}`].flatMap((volume) => ['--volume', volume]),
    ...['--tag', IMAGE, '.'],
  ]);
}

/** Limits that this process may set, as it may not everywhere set those that podman asks for by itself. */
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];
const podman = (...args: readonly string[]) => quietly('podman', ['--runtime', 'runc', ...args]);

/** Runs it and prints what was seen. */
async function run(folder: string, stops: (() => unknown)[]): Promise<void> {
  const [temporal, mongo] = await Promise.all([
    startTemporal({
      dataDir: folder,
      namespace: 'hookline',
      uiPort: undefined,
      port: await freePort(),
      report: say,
    }),
    startMongo({ dataDir: folder, port: 0, report: say }),
  ]);
  stops.push(
    () => temporal.stop(),
    () => mongo.stop(),
  );
  const received: string[] = [];
  const receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    request.resume().once('end', () => response.end());
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  stops.push(() => receiver.close());
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;

  const keys = join(folder, 'keys');
  for (const volume of ['hookline', 'mongodb', 'temporal', 'grafana'])
    await mkdir(join(keys, volume), { recursive: true });
  const script = resolve('deploy/compose/make-keys.sh');
  say('$ /make-keys.sh, as root and without a network');
  const asRoot = ['--user', 'root', '--network', 'none', '--entrypoint', '/bin/sh'];
  const mounts = ['--volume', `${script}:/make-keys.sh:ro`, '--volume', `${keys}:/keys`];
  say((await podman('run', '--rm', ...LIMITS, ...asRoot, ...mounts, IMAGE, '/make-keys.sh')).trim());

  const settings = {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: 'hookline',
    MONGODB_URI: mongo.uri,
    HOOKLINE_SECRET_KEYS_FILE: '/run/keys/secret.keys',
    HOOKLINE_PAYLOAD_KEYS_FILE: '/run/keys/payload.keys',
    HOOKLINE_WRAPPING_KEYS_FILE: '/run/keys/wrapping.keys',
    HOOKLINE_HOST: '127.0.0.1',
    HOOKLINE_PORT: String(port),
    HOOKLINE_URL: url,
    HOOKLINE_ENDPOINT_VERIFICATION: 'off',
    // The receiver is on this machine.
    HOOKLINE_ALLOWED_NETWORKS: '127.0.0.0/8',
    HOOKLINE_ALLOW_HTTP: 'true',
  };
  const asComposed = [
    ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--network', 'host', '--volume', `${join(keys, 'hookline')}:/run/keys:ro`],
    ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
  const hookline = async (...words: readonly string[]) => {
    say(`$ hookline ${words.join(' ')}`);
    const said = (await podman('run', '--rm', ...LIMITS, ...asComposed, IMAGE, ...words)).trim();
    say(said.replace(/hlk_\S+/, 'hlk_…'));
    return said;
  };
  await hookline('migrate');
  const [key = ''] = /hlk_\S+/.exec(await hookline('account', 'Operations', '--operator')) ?? [];

  say('$ hookline serve');
  await podman('run', '--detach', '--name', CONTAINER, ...LIMITS, ...asComposed, IMAGE);
  stops.push(() => podman('rm', '--force', CONTAINER));
  const inside = async (...words: readonly string[]) => (await podman('exec', CONTAINER, ...words)).trim();
  say(`GET /readyz: ${await ready(url)}`);
  say(`$ id: ${await inside('id')}`);
  const attempt =
    'touch /app/x 2>&1 || true; grep -E "^(CapEff|NoNewPrivs)" /proc/1/status | tr -s "\\t\\n" " "';
  say(`$ touch /app/x: ${await inside('sh', '-c', attempt)}`);
  await podman('healthcheck', 'run', CONTAINER);
  say('The health check of the image: healthy');

  const authorization = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { port: receiverPort } = receiver.address() as AddressInfo;
  const body = JSON.stringify({ target_url: `http://127.0.0.1:${receiverPort}/`, event_kinds: ['purchase'] });
  const registered = await fetch(`${url}/v18.0/endpoints`, { method: 'POST', headers: authorization, body });
  if (registered.status !== 201)
    throw new Error(`registration: ${registered.status} ${await registered.text()}`);
  const sent = await podman(
    ...['run', '--rm', ...LIMITS, ...asComposed, '--env', `HOOKLINE_API_KEY=${key}`, IMAGE],
    ...['trigger', 'purchase', '--wait'],
  );
  say(`$ hookline trigger purchase --wait\n${sent.trim()}`);
  if (received.length !== 1) throw new Error(`${received.length} deliveries arrived`);

  const began = performance.now();
  await podman('stop', '--time', '30', CONTAINER);
  const code = (await podman('inspect', '--format', '{{.State.ExitCode}}', CONTAINER)).trim();
  say(`SIGTERM: ended after ${((performance.now() - began) / 1_000).toFixed(1)} s with ${code}`);
  for (const line of (await podman('logs', CONTAINER)).trim().split('\n')) {
    const { msg } = JSON.parse(line) as { msg: string };
    if (/^(serving|stop)/.test(msg)) say(`log: ${msg}`);
  }
  if (code !== '0') throw new Error('it did not end well');
}

/** Answer of `/readyz` once the service is ready. */
async function ready(url: string): Promise<string> {
  for (const deadline = performance.now() + STARTED_WITHIN_MS; ; await delay(200)) {
    const response = await fetch(`${url}/readyz`).catch(() => undefined);
    if (response?.ok) return `${response.status} ${await response.text()}`;
    if (performance.now() > deadline) throw new Error(`not ready: ${await podman('logs', CONTAINER)}`);
  }
}

/** Builds and runs the image; throws where something is not as it should be. */
async function main(): Promise<void> {
  const missing = await missingForContainer();
  if (missing.length > 0) throw new Error(`A container is not run: no ${missing.join(', no ')}.`);
  await makeBase();
  say(`$ docker build -t hookline . (buildah, on ${DEBIAN} with Node.js ${process.version})`);
  await buildImage();
  const folder = await mkdtemp(join(tmpdir(), 'hookline-container-'));
  const stops: (() => unknown)[] = [() => rm(folder, { recursive: true })];
  try {
    await run(folder, stops);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

if (process.argv[1] === import.meta.filename) await main();
