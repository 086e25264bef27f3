import { equal, match, ok } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { stopLimits } from '../../src/bin/service/stops.js';
import { loadSettings } from '../../src/config/load.js';
import { SECRET_SETTINGS } from '../../src/config/secret-files.js';
import { RELEASE } from '../../src/domain/basics/release.js';

const CHART = 'deploy/helm/hookline';
const FOLDER = 'test/contract/helm';
/** Go puts a program where it was built. */
const PATH = [process.env['PATH'], join(homedir(), 'go', 'bin')].join(delimiter);
const run = (program: string, args: string[]) =>
  spawnSync(program, args, { encoding: 'utf8', env: { ...process.env, PATH } });
const isThere = (program: string) => run(program, ['--help']).error === undefined;

const render = (...args: string[]) =>
  run('helm', ['template', 'hookline', CHART, '--namespace', 'hookline', '--kube-version', '1.31', ...args]);

interface Resource {
  kind: string;
  metadata: { name: string };
  // biome-ignore lint/suspicious/noExplicitAny: what a chart renders has no type here.
  spec: any;
}

/** What a set of values renders, with made keys replaced: they are others each time. */
function rendered(values: string): { text: string; resources: Resource[] } {
  const { stdout, stderr, status } = render('--values', join(FOLDER, `${values}.yaml`));
  equal(status, 0, stderr);
  const text = stdout.replaceAll(/"k\d{8}:[A-Za-z0-9+/]{43}="/g, '"k00000000:…"');
  return { text, resources: parseAllDocuments(stdout).map((document) => document.toJS() as Resource) };
}

/** The chart is rendered by helm, a quarter of a second each time. */
describe('the Helm chart [world]', () => {
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
        const environment = Object.fromEntries(
          (container.env as { name: string; value?: string }[]).map(({ name, value }) => [name, value]),
        );
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
    const least = [
      '--set',
      'settings.TEMPORAL_ADDRESS=t:7233',
      '--set',
      'secrets.MONGODB_URI.name=m,secrets.MONGODB_URI.key=uri',
    ];
    const refused: [string[], RegExp][] = [
      [[], /Set settings\.TEMPORAL_ADDRESS/],
      [['--set', 'settings.TEMPORAL_ADDRESS=t:7233'], /Set secrets\.MONGODB_URI/],
      [least, /Set secrets\.HOOKLINE_SECRET_KEYS/],
      [
        [...least, '--set', 'generateKeys=true,settings.HOOKLINE_SMTP_URL=smtp://a:b@c'],
        /HOOKLINE_SMTP_URL is a secret/,
      ],
      [[...least, '--set', 'generateKeys=true,components.all.enabled=false'], /Nothing serves the API/],
      [
        [...least, '--set', 'generateKeys=true,components.all.enabled=false,components.api.enabled=true'],
        /Nothing delivers/,
      ],
      [
        [...least, '--set', 'generateKeys=true,terminationGracePeriodSeconds=15'],
        /must be more than HOOKLINE_DRAIN, HOOKLINE_ATTEMPT_TIMEOUT and 5 s, 15 s together/,
      ],
      [
        [
          ...least,
          '--set',
          'generateKeys=true,settings.HOOKLINE_ATTEMPT_TIMEOUT=500ms,settings.HOOKLINE_DRAIN=1m',
        ],
        /65\.5 s together/,
      ],
      [[...least, '--set', 'generateKeys=true,settings.FOO=x'], /invalid propertyName 'FOO'/],
    ];
    for (const [args, message] of refused) {
      const { status, stderr } = render(...args);
      equal(status, 1, args.join(' '));
      match(stderr, message);
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
      const files = ['one-role', 'everything'].map((values) => join(FOLDER, `${values}.rendered.yaml`));
      const { status, stdout, stderr } = run('kubernetes-validate', ['--strict', '-k', version, ...files]);
      equal(status, 0, stdout + stderr);
    }
  });
});
