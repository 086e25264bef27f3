import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'yaml';
import { COMMANDS } from '../../../src/bin/commands.js';
import { healthListener } from '../../../src/bin/service/health-listener.js';
import { stopLimits } from '../../../src/bin/service/stops.js';
import { loadSettings } from '../../../src/config/load.js';
import { settingsSchema } from '../../../src/config/schema.js';
import { SECRET_SETTINGS } from '../../../src/config/secret-files.js';
import { parseDuration } from '../../../src/domain/basics/duration.js';

interface Service {
  image?: string;
  build?: string;
  profiles?: string[];
  entrypoint?: string[];
  command?: string[];
  healthcheck?: { test?: string[] };
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
}

const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const dockerfile = readFileSync('Dockerfile', 'utf8');

const { HOOKLINE_DRAIN: drainMs, HOOKLINE_ATTEMPT_TIMEOUT: attemptMs } = loadSettings({});
/** How long a process may take to stop. */
const stopMs = drainMs + stopLimits(attemptMs).allMs;

function service(name: string): Service {
  const found = compose.services[name];
  ok(found, `docker-compose.yml has no service ${name}`);
  return found;
}

describe('docker-compose.yml', () => {
  for (const name of ['node-1', 'node-2', 'migrate', 'hookline']) {
    it(`configures ${name} with settings that exist and can be used`, () => {
      const environment = { ...service(name).environment };
      for (const secret of SECRET_SETTINGS) delete environment[`${secret}_FILE`];
      for (const ofClients of ['HOOKLINE_URL', 'HOOKLINE_API_KEY']) delete environment[ofClients];
      const unknown = Object.keys(environment).filter((setting) => !(setting in settingsSchema.shape));
      deepEqual(unknown, []);
      const settings = loadSettings(environment);
      ok(settings.TEMPORAL_ADDRESS);
      equal(settings.HOOKLINE_HOST, '0.0.0.0');
      const [command = ''] = service(name).command ?? [];
      ok(command === 'help' || command in COMMANDS);
    });
  }

  it('has no secret in it: each stands in a file, which `keys` makes for the user that reads it', () => {
    const text = readFileSync('docker-compose.yml', 'utf8');
    equal(/password: |pwd: |:\/\/\w+:\w+@|[A-Za-z0-9+/]{43}=/i.exec(text.replaceAll(/_FILE: .*/g, '')), null);
    const make = readFileSync('deploy/compose/make-keys.sh', 'utf8');
    const made = [...make.matchAll(/^keep \/keys\/(\w+)\/(\S+) /gm)].map(
      ([, volume, file]) => `${volume}-keys/${file}`,
    );
    const read = Object.values(compose.services).flatMap(({ volumes = [], ...rest }) => {
      const keys = volumes.find((volume) => volume.endsWith(':/run/keys:ro'))?.split(':')[0];
      const inScripts = volumes
        .map((volume) => volume.split(':')[0] ?? '')
        .filter((path) => /\.(?:sh|js)$/.test(path))
        .map((path) => readFileSync(path, 'utf8'));
      const uses = [JSON.stringify(rest), ...inScripts].join();
      return [...uses.matchAll(/\/run\/keys\/([\w.]+)/g)].map(([, file]) => `${keys}/${file}`);
    });
    // The two that others are made of are read by their own services as well.
    deepEqual([...new Set(read)].sort(), made.sort());
  });

  it('sends the proxy to the port that the nodes listen on', () => {
    const port = service('node-1').environment?.['HOOKLINE_PORT'];
    match(
      readFileSync('deploy/Caddyfile', 'utf8'),
      new RegExp(`reverse_proxy node-1:${port} node-2:${port} `),
    );
  });

  it('names the exact version of every image that is not ours', () => {
    const images = Object.values(compose.services).map(({ image = '' }) => image);
    for (const image of images.filter((name) => name !== 'hookline'))
      match(image, /:v?\d+\.\d+(?:\.\d+)?(?:@sha256:[0-9a-f]{64})?$/);
    // Docker's own images are published with their digests; of the others none could be looked up.
    for (const image of images.filter((name) => /^(?:mongo|postgres|caddy):/.test(name)))
      match(image, /@sha256:/);
  });

  it('publishes neither the metrics nor what processes say to each other', () => {
    const caddyfile = readFileSync('deploy/Caddyfile', 'utf8');
    match(caddyfile, /@internal path \/metrics \/metrics\/\* \/internal\/\*\n\trespond @internal 404/);
    ok(caddyfile.indexOf('respond @internal') < caddyfile.indexOf('reverse_proxy'));
  });

  it('publishes on the loopback address only', () => {
    const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    equal(published.length, 4);
    for (const port of published) match(port, /^127\.0\.0\.1:/);
  });

  it('mounts files and volumes, and waits for services, that exist', () => {
    for (const { volumes = [], depends_on = {} } of Object.values(compose.services)) {
      for (const source of volumes.map((volume) => volume.split(':')[0] ?? '')) {
        ok(source.startsWith('.') ? existsSync(source) : source in compose.volumes, source);
      }
      for (const other of Object.keys(depends_on)) service(other);
    }
  });

  it('does not run what serves with more rights than it needs', () => {
    for (const name of ['node-1', 'node-2', 'migrate', 'hookline']) {
      const { read_only, cap_drop, user } = service(name) as Record<string, unknown>;
      deepEqual([read_only, cap_drop, user], [true, ['ALL'], undefined]);
    }
  });

  it('scrapes every node, and gives Grafana the dashboard', () => {
    const nodes = Object.keys(compose.services).filter((name) => name.startsWith('node-'));
    const { scrape_configs, rule_files } = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'));
    deepEqual(
      scrape_configs[0].static_configs[0].targets,
      nodes.map((name) => `${name}:${service(name).environment?.['HOOKLINE_PORT']}`),
    );
    // The rules and the dashboard select this job.
    equal(scrape_configs[0].job_name, 'hookline');
    const targets = (name: string) => (service(name).volumes ?? []).map((volume) => volume.split(':')[1]);
    ok(targets('prometheus').includes(rule_files[0]));
    const { providers } = parse(readFileSync('deploy/grafana/provisioning/dashboards/hookline.yml', 'utf8'));
    ok(targets('grafana').includes(`${providers[0].options.path}/hookline.json`));
  });

  it('lets a process stop before it kills, and the proxy see that it stops', () => {
    for (const name of ['node-1', 'node-2'])
      ok(parseDuration(service(name).stop_grace_period ?? '') > stopMs, name);
    const proxy = readFileSync('deploy/Caddyfile', 'utf8');
    match(proxy, /^\s+health_uri \/readyz$/m);
    const [, interval = ''] = /^\s+health_interval (\S+)$/m.exec(proxy) ?? [];
    ok(parseDuration(interval) * 2 < drainMs);
  });

  it("raises Temporal's limit of list calls", () => {
    const [mounted = ''] = service('temporal').volumes ?? [];
    ok(mounted.endsWith(`${service('temporal').environment?.['DYNAMIC_CONFIG_FILE_PATH']}:ro`));
    const dynamic = parse(readFileSync(mounted.split(':')[0] ?? '', 'utf8'));
    equal(dynamic['frontend.namespaceRPS.visibility'][0].value, 1000);
    equal(dynamic['matching.enableFairness'][0].value, true);
    equal(dynamic['matching.numTaskqueueReadPartitions'][0].value, 1);
    equal(dynamic['matching.numTaskqueueWritePartitions'][0].value, 1);
  });
});

describe('the unit of systemd', () => {
  const unit = readFileSync('deploy/systemd/hookline@.service', 'utf8');
  const values = (name: string) =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value]) => value);

  it('runs a command that is there, as no root, in each role', () => {
    const [, script = '', command = ''] =
      /node (\S+) (\w+) --role %i$/m.exec(values('ExecStart')[0] ?? '') ?? [];
    equal(script, JSON.parse(readFileSync('package.json', 'utf8')).bin.hookline);
    ok(command in COMMANDS);
    deepEqual(values('User'), ['hookline']);
    deepEqual(values('CapabilityBoundingSet'), ['']);
  });

  it('and sh read a value alike in the quotes that the page on production asks for', () => {
    const page = readFileSync('docs/tasks/production.md', 'utf8').replaceAll(/\s+/g, ' ');
    const [, quotes = ''] = /Put values with spaces or `<&\$;` into (single|double) quotes/.exec(page) ?? [];
    const mark = { single: "'", double: '"' }[quotes] ?? '';
    const value = 'smtp://mail:p$w<a&b>;c d@mail.example.com?x=$HOME';
    const script = `eval "$(cat)"; printf %s "$HOOKLINE_SMTP_URL"`;
    const read = execFileSync('sh', ['-c', script], { input: `HOOKLINE_SMTP_URL=${mark}${value}${mark}\n` });
    equal(read.toString(), value);
  });

  it('lets a process stop before it kills', () => {
    const seconds = Number(/^(\d+)s$/.exec(values('TimeoutStopSec')[0] ?? '')?.[1]);
    ok(seconds * 1000 > stopMs);
  });
});

describe('Dockerfile', () => {
  it('runs the install script of no dependency', () => {
    for (const [line] of dockerfile.matchAll(/npm ci.*/g)) match(line, /--ignore-scripts/);
    const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
      packages: Record<string, { hasInstallScript?: boolean }>;
    };
    const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      allowScripts: Record<string, boolean>;
    };
    const withScript = Object.entries(packages)
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([path]) => path.split('node_modules/').at(-1) ?? '');
    deepEqual([...new Set(withScript)].sort(), Object.keys(allowScripts).sort());
    ok(Object.values(allowScripts).every((allowed) => !allowed));
  });

  it('sets settings that exist, and runs a command that exists, as no root', () => {
    const set = [...dockerfile.matchAll(/\b(HOOKLINE_\w+)=(\S+)/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    ok(set.length > 0);
    loadSettings(Object.fromEntries(set));
    match(dockerfile, /^USER node$/m);
    const [, command = ''] = /^CMD \["(\w+)"\]$/m.exec(dockerfile) ?? [];
    ok(command in COMMANDS);
    const [, entry = ''] = /^ENTRYPOINT .*"([^"]+)"\]$/m.exec(dockerfile) ?? [];
    equal(entry, JSON.parse(readFileSync('package.json', 'utf8')).bin.hookline);
  });

  it('is healthy while a worker answers at HOOKLINE_PORT, and not afterwards', async () => {
    const [, check = ''] = /^HEALTHCHECK .*\\\n {2}CMD (\[.*\])$/m.exec(dockerfile) ?? [];
    const [command = '', ...args] = JSON.parse(check) as string[];
    const isHealthy = async (port: number) => {
      const env = { PATH: process.env['PATH'], HOOKLINE_PORT: String(port) };
      const [code] = await once(spawn(command, args, { env, stdio: 'ignore' }), 'exit');
      return code === 0;
    };
    // A server that is away makes a process unready, not unhealthy: to restart it would mend nothing.
    const down = () => Promise.reject(new Error('down'));
    const worker = createServer(
      healthListener(
        {
          readiness: { mongodb: down, temporal: down, migrated: down, worker: down },
          stopping: new AbortController().signal,
          warnings: () => [],
        },
        { contentType: 'text/plain', text: async () => '' },
      ),
    );
    await once(worker.listen(0, '127.0.0.1'), 'listening');
    const { port } = worker.address() as AddressInfo;
    equal(await isHealthy(port), true);
    worker.closeAllConnections();
    await once(worker.close(), 'close');
    equal(await isHealthy(port), false);
  });

  it('runs one version of Node.js, which package.json accepts', () => {
    const images = [...dockerfile.matchAll(/^FROM .*node:(\d+)-slim@(sha256:[0-9a-f]{64})/gm)];
    deepEqual(
      images.map(([, version]) => version),
      ['24', '24', '24'],
    );
    equal(new Set(images.map(([, , digest]) => digest)).size, 1);
    const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    equal(engines.node, '>=20.19');
  });
});
