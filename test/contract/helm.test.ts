import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { stopLimits } from '../../src/bin/service/stops.js';
import { loadSettings } from '../../src/config/load.js';
import { SECRET_SETTINGS } from '../../src/config/secret-files.js';
import { RELEASE } from '../../src/domain/basics/release.js';
import { folderOfEach } from '../support/folder.js';

const CHART = 'deploy/helm/hookline';
const FOLDER = 'test/contract/helm';
/** Go puts a program where it was built. */
const PATH = [process.env['PATH'], join(homedir(), 'go', 'bin')].join(delimiter);
const ENV = { ...process.env, PATH };
const run = (program: string, args: string[]) => spawnSync(program, args, { encoding: 'utf8', env: ENV });
const isThere = (program: string) => run(program, ['--help']).error === undefined;

const templateOf = (...args: string[]) => [
  ...['template', 'hookline', CHART, '--namespace', 'hookline', '--kube-version', '1.31'],
  ...args,
];
const render = (...args: string[]) => run('helm', templateOf(...args));

/** Where the servers are, and what else has to be set. */
const SERVERS = [
  ...['--set', 'settings.TEMPORAL_ADDRESS=t:7233'],
  ...['--set', 'secrets.MONGODB_URI.name=m,secrets.MONGODB_URI.key=uri'],
];
const LEAST = [...SERVERS, '--set', 'generateKeys=true'];

function isRefused(args: string[], message: RegExp): void {
  const { status, stderr } = render(...args);
  equal(status, 1, args.join(' '));
  match(stderr, message);
}

interface Resource {
  kind: string;
  metadata: { name: string };
  // biome-ignore lint/suspicious/noExplicitAny: what a chart renders has no type here.
  spec: any;
}

/** Resources that a set of values renders, with made keys replaced: they are others each time. */
function rendered(values: string): { text: string; resources: Resource[] } {
  const { stdout, stderr, status } = render('--values', join(FOLDER, `${values}.yaml`));
  equal(status, 0, stderr);
  const text = stdout.replaceAll(/"k\d{8}:[A-Za-z0-9+/]{43}="/g, '"k00000000:…"');
  return { text, resources: parseAllDocuments(stdout).map((document) => document.toJS() as Resource) };
}

/** The chart is rendered by helm, a quarter of a second each time. */
describe('the Helm chart [world]', () => {
  const inFolder = folderOfEach();
  before(function () {
    if (isThere('helm')) return;
    process.stderr.write(
      'helm is not on this machine, so the chart is not checked: `npm run test:all` builds it\n',
    );
    this.skip();
  });

  for (const values of ['one-role', 'everything']) {
    it(`renders ${values} as it is checked in, and passes helm lint`, () => {
      const lint = run('helm', [
        'lint',
        CHART,
        '--strict',
        '--quiet',
        '--values',
        join(FOLDER, `${values}.yaml`),
      ]);
      equal(lint.status, 0, lint.stdout + lint.stderr);
      const file = join(FOLDER, `${values}.rendered.yaml`);
      const { text } = rendered(values);
      if (process.env['UPDATE_SNAPSHOTS']) writeFileSync(file, text);
      equal(
        text,
        readFileSync(file, 'utf8'),
        `${file} is not so any more; if that is meant, run \`npm run snapshots\``,
      );
    });

    it(`sets, for ${values}, settings that exist, gives what stops longer than an attempt, and needs no rights`, () => {
      for (const { kind, spec } of rendered(values).resources) {
        if (kind !== 'Deployment' && kind !== 'Job') continue;
        const pod = spec.template.spec;
        const [container] = pod.containers;
        const env = container.env as { name: string; value?: string }[];
        const environment = Object.fromEntries(env.map(({ name, value }) => [name, value]));
        equal(Object.keys(environment).length, env.length);
        const secrets = SECRET_SETTINGS.filter((name) => `${name}_FILE` in environment);
        ok(secrets.includes('MONGODB_URI') && secrets.includes('HOOKLINE_SECRET_KEYS'));
        for (const name of secrets) delete environment[`${name}_FILE`];
        const settings = loadSettings({ ...environment, HOOKLINE_INTERNAL_URL: 'http://10.0.0.1:8080' });
        if (kind === 'Deployment') {
          const stopMs = settings.HOOKLINE_DRAIN + stopLimits(settings.HOOKLINE_ATTEMPT_TIMEOUT).allMs;
          ok(pod.terminationGracePeriodSeconds * 1_000 > stopMs);
          match(container.args.join(' '), /^serve --role (?:all|api|worker)$/);
        }
        equal(pod.securityContext.runAsNonRoot && container.securityContext.readOnlyRootFilesystem, true);
        equal(pod.automountServiceAccountToken, false);
      }
    });
  }

  it('says what is missing or cannot be, before anything is installed', () => {
    const refused: [string[], RegExp][] = [
      [[], /Set settings\.TEMPORAL_ADDRESS/],
      [['--set', 'settings.TEMPORAL_ADDRESS=t:7233'], /Set secrets\.MONGODB_URI/],
      [SERVERS, /Set secrets\.HOOKLINE_SECRET_KEYS/],
      [[...LEAST, '--set', 'components.all.enabled=false'], /Nothing serves the API/],
      [[...LEAST, '--set', 'components.all.enabled=false,components.api.enabled=true'], /Nothing delivers/],
      [
        [...LEAST, '--set', 'terminationGracePeriodSeconds=15'],
        /must be more than HOOKLINE_DRAIN, HOOKLINE_ATTEMPT_TIMEOUT and 5 s, 15 s together/,
      ],
      [
        [...LEAST, '--set', 'settings.HOOKLINE_ATTEMPT_TIMEOUT=500ms,settings.HOOKLINE_DRAIN=1m'],
        /65\.5 s together/,
      ],
      [
        [...LEAST, '--set', 'settings.HOOKLINE_ATTEMPT_TIMEOUT=5 minutes'],
        /settings\.HOOKLINE_ATTEMPT_TIMEOUT: "5 minutes" is not a duration/,
      ],
      [[...LEAST, '--set', 'replicas=3'], /additional properties 'replicas' not allowed/],
    ];
    for (const [args, message] of refused) isRefused(args, message);
  });

  it('refuses every secret among settings and variables, and settings that there are not or that it makes itself', () => {
    for (const name of SECRET_SETTINGS) {
      isRefused(
        [...LEAST, '--set-string', `settings.${name}=x`],
        new RegExp(`${name} is a secret: name a Sec`),
      );
      isRefused(
        [...LEAST, '--set', `extraEnv[0].name=${name}`],
        new RegExp(`extraEnv: ${name} is of Hookline`),
      );
    }
    const refused: [string, RegExp][] = [
      ['settings.FOO=x', /settings\.FOO: there is no such setting/],
      ['settings.HOOKLINE_ATTEMPT_TIMOUT=x', /settings\.HOOKLINE_ATTEMPT_TIMOUT: there is no such/],
      ['settings.HOOKLINE_HOST_FILE=x', /settings\.HOOKLINE_HOST_FILE: there is no such/],
      ['settings.HOOKLINE_PORT=x', /The chart sets HOOKLINE_PORT itself/],
      ['settings.HOOKLINE_HOST=x', /The chart sets HOOKLINE_HOST itself/],
      ['settings.HOOKLINE_INTERNAL_URL=x', /The chart sets HOOKLINE_INTERNAL_URL itself/],
      ['settings.MONGODB_URI_FILE=x', /The chart sets MONGODB_URI_FILE itself/],
      [
        'temporalTls.existingSecret=t,settings.TEMPORAL_TLS_CLIENT_KEY_PATH=x',
        /The chart sets TEMPORAL_TLS_CLIENT_KEY_PATH itself/,
      ],
      [
        'secrets.HOOKLINE_LOG_KEYS.name=a,secrets.HOOKLINE_LOG_KEYS.key=b',
        /secrets\.HOOKLINE_LOG_KEYS: there/,
      ],
      ['secrets.HOOKLINE_PORT.name=a,secrets.HOOKLINE_PORT.key=b', /HOOKLINE_PORT is not a secret/],
      ['extraEnv[0].name=POD_IP', /extraEnv: POD_IP is of Hookline, or of this chart/],
      ['extraEnv[0].name=HOOKLINE_PROT', /extraEnv: HOOKLINE_PROT is/],
    ];
    for (const [values, message] of refused) isRefused([...LEAST, '--set-string', values], message);
  });

  it('takes the values that the pages have, those for Temporal Cloud over the others', () => {
    const files = ['kubernetes', 'temporal-cloud'].flatMap((page) => {
      const text = readFileSync(`docs/tasks/${page}.md`, 'utf8');
      const file = inFolder(`${page}.yaml`);
      writeFileSync(
        file,
        /^```yaml\n((?:(?!```)[\s\S])*TEMPORAL_ADDRESS[\s\S]*?)^```/m.exec(text)?.[1] ?? '',
      );
      return ['--values', file];
    });
    for (const values of [files.slice(0, 2), files]) {
      const { status, stderr } = render(...values);
      equal(status, 0, stderr);
    }
    match(render(...files).stdout, /name: HOOKLINE_VISIBILITY_PER_SECOND\n\s+value: "10"/);
  });

  it('takes a secret from a file that something else puts there', () => {
    const files = ['MONGODB_URI_FILE=/vault/uri', 'HOOKLINE_SECRET_KEYS_FILE=/vault/keys'];
    const set = ['TEMPORAL_ADDRESS=t:7233', ...files].map((setting) => `settings.${setting}`);
    const { status, stderr } = render('--set', set.join());
    equal(status, 0, stderr);
  });

  it('lets only those reach a process, and it only those, whom its role needs', () => {
    const names = (peers: { namespaceSelector?: object; podSelector?: { matchLabels: object } }[] = []) =>
      peers.map((peer) =>
        peer.namespaceSelector
          ? Object.values((peer.namespaceSelector as { matchLabels: object }).matchLabels).join()
          : Object.keys(peer.podSelector?.matchLabels ?? {}).filter((label) =>
              label.startsWith('hookline-'),
            )[0],
      );
    const policies = rendered('everything').resources.filter(({ kind }) => kind === 'NetworkPolicy');
    const rules = policies.map(({ metadata, spec }) => [
      metadata.name,
      (spec.ingress ?? []).flatMap(({ from }: { from: [] }) => names(from)),
      (spec.egress ?? []).flatMap(({ to, ports }: { to: []; ports: { port: number }[] }) =>
        ports?.[0]?.port === 8080 ? names(to) : [],
      ),
    ]);
    deepEqual(rules, [
      ['hookline', [], []],
      ['hookline-api', ['ingress-nginx', 'monitoring', 'hookline-process'], []],
      ['hookline-worker', ['monitoring'], ['hookline-api']],
    ]);
    // Another release in the same namespace is none of them.
    for (const peer of JSON.stringify(policies).match(/\{[^{}]*"hookline-(?:api|process)"[^{}]*\}/g) ?? [])
      match(peer, /"app\.kubernetes\.io\/instance":"hookline"/);
  });

  it('lets nodes be drained: a pod at a time of the API, a quarter of workers, also while all are not ready', () => {
    const budgets = rendered('everything').resources.filter(({ kind }) => kind === 'PodDisruptionBudget');
    deepEqual(
      budgets.map(({ metadata, spec }) => [
        metadata.name,
        spec.maxUnavailable,
        spec.unhealthyPodEvictionPolicy,
      ]),
      [
        ['hookline-api', 1, 'AlwaysAllow'],
        ['hookline-worker', '25%', 'AlwaysAllow'],
      ],
    );
  });

  it('ends the migration before Helm gives up, by what both do by default', () => {
    const [, minutes] =
      /--timeout duration .*\(default (\d+)m0s\)/.exec(run('helm', ['install', '--help']).stdout) ?? [];
    const job = rendered('one-role').resources.find(({ kind }) => kind === 'Job');
    ok(job?.spec.activeDeadlineSeconds < Number(minutes) * 60);
  });

  it('replaces the pods of an upgrade if a Secret has another version, which the cluster says', async () => {
    const versions = new Map([
      ['hookline-mongodb', '1'],
      ['hookline-keys', '1'],
      ['other', '1'],
    ]);
    const cluster = createServer((request, response) => {
      const [, name = ''] = /\/secrets\/([\w-]+)$/.exec(request.url ?? '') ?? [];
      const resourceVersion = versions.get(name);
      const secrets = {
        name: 'secrets',
        singularName: 'secret',
        namespaced: true,
        kind: 'Secret',
        verbs: ['get'],
      };
      const answer =
        name === ''
          ? { kind: 'APIResourceList', groupVersion: 'v1', resources: [secrets] }
          : { apiVersion: 'v1', kind: 'Secret', metadata: { name, uid: 'u', resourceVersion } };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    await once(cluster.listen(0, '127.0.0.1'), 'listening');
    try {
      const { port } = cluster.address() as AddressInfo;
      const server = ['--dry-run=server', '--kube-apiserver', `http://127.0.0.1:${port}`];
      const checksum = async () => {
        const args = templateOf('--values', join(FOLDER, 'one-role.yaml'), ...server);
        const { stdout } = await promisify(execFile)('helm', args, { env: ENV });
        const deployment = parseAllDocuments(stdout)
          .map((document) => document.toJS() as Resource)
          .find(({ kind }) => kind === 'Deployment');
        return deployment?.spec.template.metadata.annotations['checksum/secrets'];
      };
      const first = await checksum();
      match(first, /^[0-9a-f]{64}$/);
      versions.set('other', '2');
      equal(await checksum(), first);
      versions.set('hookline-keys', '2');
      notEqual(await checksum(), first);
    } finally {
      cluster.close();
    }
  });

  it('is of the version of the package', () => {
    const { version, appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
    equal(version, appVersion);
    ok(RELEASE.includes(appVersion));
  });

  it('renders what Kubernetes 1.25, 1.31 and 1.37 take', function () {
    if (!isThere('kubernetes-validate')) {
      process.stderr.write(
        'kubernetes-validate is not on this machine, so the chart is not compared with schemas: `npm run test:all` installs it.\n',
      );
      this.skip();
    }
    for (const version of ['1.25.0', '1.31.0', '1.37.0']) {
      const files = ['one-role', 'everything'].map((values) => {
        const text = render('--values', join(FOLDER, `${values}.yaml`), '--kube-version', version).stdout;
        const file = inFolder(`${values}-${version}.yaml`);
        writeFileSync(file, text);
        return file;
      });
      const { status, stdout, stderr } = run('kubernetes-validate', ['--strict', '-k', version, ...files]);
      equal(status, 0, stdout + stderr);
    }
  });
});
