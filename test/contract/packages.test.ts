import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { needs } from '../support/needs.js';

// It is packed, and not built twice at once.
needs('build');

interface Manifest {
  name: string;
  version: string;
  private?: boolean;
  scripts?: Record<string, string>;
  exports?: Record<string, unknown>;
  dependencies?: Record<string, string>;
}

const manifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The packages beside the service, by their folders. */
const WORKSPACES = [
  'clients/typescript',
  ...readdirSync('packages')
    .filter((name) => !name.includes('.'))
    .map((name) => `packages/${name}`),
];

/**
 * All packages, packed and put into an empty folder as an installation would, with the dependencies that they declare
 * and no others. It takes some seconds of processor time for each: they are compiled anew and 30 MB are packed, once.
 */
describe('the packages, as they are published, [world]', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookline-packages-'));
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder },
    });

  before(() => {
    const packed = join(folder, 'packed');
    mkdirSync(packed);
    const pack = (...args: string[]) =>
      execFileSync('npm', ['pack', '--silent', '--pack-destination', packed, ...args], { stdio: 'pipe' });
    pack();
    for (const workspace of WORKSPACES) pack('--workspace', workspace);
    for (const { name, version } of ['.', ...WORKSPACES].map(manifest)) {
      const file = `${name.replace('@hookline/', 'hookline-')}-${version}.tgz`;
      const into = join(folder, 'node_modules', name);
      mkdirSync(into, { recursive: true });
      execFileSync('tar', ['-xzf', join(packed, file), '--strip-components', '1', '-C', into]);
      for (const each of Object.keys(manifest(into).dependencies ?? {})) {
        const link = join(folder, 'node_modules', each);
        if (existsSync(link)) continue;
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(resolve('node_modules', each), link);
      }
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are packed with what is built, also in a checkout in which nothing was: it is built then, as before a start', () => {
    const { prepack, prestart } = manifest('.').scripts ?? {};
    equal(prepack, 'node tools/build-when-stale.mjs');
    equal(prepack, prestart);
  });

  it('run: the command line says its version and its commands, and makes a key', () => {
    const hookline = (...args: string[]) =>
      run(process.execPath, ['node_modules/hookline/dist/bin/hookline.js', ...args]);
    equal(hookline('--version').trim(), manifest('.').version);
    match(hookline('help'), /Run the service:/);
    match(hookline('secret-key'), /^k\w+:[\w+/]{43}=\n$/);
  });

  it('have what the commands load that run a service, and say what is missing', () => {
    try {
      run(process.execPath, ['node_modules/hookline/dist/bin/hookline.js', 'serve']);
      ok(false, 'it ran without servers');
    } catch (error) {
      match((error as { stderr: string }).stderr, /^hookline: Set TEMPORAL_ADDRESS and MONGODB_URI/);
    }
    for (const file of [
      'dist/workflow-bundle.js',
      'dist/web/dist/index.html',
      'dist/packages/embedded-servers/ferretdb/go.mod',
      'deploy/prometheus/alerts.yml',
    ])
      ok(existsSync(join(folder, 'node_modules/hookline', file)), file);
  });

  it('have no tests, benchmarks or sources in them', () => {
    const dist = readdirSync(join(folder, 'node_modules/hookline/dist'));
    deepEqual(
      dist.filter((name) => ['test', 'bench'].includes(name)),
      [],
    );
    for (const workspace of WORKSPACES)
      equal(existsSync(join(folder, 'node_modules', manifest(workspace).name, 'src')), false);
  });

  it('have a client that is imported by its name, from the file that its README installs', () => {
    const readme = readFileSync('clients/typescript/README.md', 'utf8');
    const [, file = ''] = /npm install \.\.\/hookline\/(\S+)/.exec(readme) ?? [];
    ok(readdirSync(join(folder, 'packed')).includes(file), file);
    const script = 'import * as all from "@hookline/client"; console.log(Object.keys(all).sort().join(" "));';
    match(
      run(process.execPath, ['--input-type=module', '--eval', script]),
      /\bHookline\b.*\bHooklineError\b/,
    );
    ok(existsSync(join(folder, 'node_modules/@hookline/client/dist/index.d.ts')));
  });

  it('have what they export, under their names', () => {
    for (const { name, exports = {} } of WORKSPACES.map(manifest))
      for (const path of Object.keys(exports)) {
        const script = `console.log(Object.keys(await import(${JSON.stringify(join(name, path))})).length)`;
        ok(Number(run(process.execPath, ['--input-type=module', '--eval', script])) > 0, join(name, path));
      }
  });
});

describe('a release [world]', () => {
  const workflow = readFileSync('.github/workflows/release.yml', 'utf8');

  it('runs actions at commits only, with the version beside each', () => {
    const uses = [...workflow.matchAll(/uses: (.*)/g)].map(([, action]) => action ?? '');
    ok(uses.length > 5);
    for (const action of uses) match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('has one version for packages and chart, and cannot be published by hand', () => {
    const { version } = manifest('.');
    for (const workspace of WORKSPACES) equal(manifest(workspace).version, version);
    equal(parse(readFileSync('deploy/helm/hookline/Chart.yaml', 'utf8')).appVersion, version);
    equal(manifest('.').private, true);
    match(workflow, /npm pkg delete private/);
  });

  it('gives each job no more rights than it needs', () => {
    const { permissions, jobs } = parse(workflow) as {
      permissions: unknown;
      jobs: Record<string, { permissions?: Record<string, string> }>;
    };
    deepEqual(permissions, { contents: 'read' });
    deepEqual(
      Object.entries(jobs).map(([name, job]) => [
        name,
        Object.entries(job.permissions ?? {})
          .filter(([, right]) => right === 'write')
          .map(([what]) => what),
      ]),
      [
        ['check', []],
        ['image', ['packages', 'id-token']],
        ['chart', ['packages']],
        ['documentation', ['contents']],
        ['packages', ['id-token']],
      ],
    );
  });
});
