import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { goBuildWay, pathWay, userCacheDir } from '../packages/embedded-servers/src/index.js';
import { GENERATORS } from './foreign-clients/generators.js';
import { pythonTool } from './foreign-clients/python-tool.js';
import { samplePackages } from './foreign-clients/sample-packages.js';

/**
 * Runs every test, `npm run test:all`, or those that `npm test` leaves out, `npm run test:world`, with what some of
 * them need besides this project: Helm, the schemas of Kubernetes, generators of clients, frameworks that the portal
 * has code for. It is taken from PATH, or installed once per user into the cache folder with Go, pip and npm. Tests
 * whose part cannot be had are named as not run. Arguments are Mocha's.
 */
/** The release pinned in tools/helm/go.mod. */
const HELM_VERSION = 'v3.19.0';
const KUBERNETES_VALIDATE = '1.37.0';

const report = (line: string) => process.stderr.write(`${line}\n`);

async function helm(): Promise<string> {
  const build = goBuildWay(
    {
      doing: `building Helm ${HELM_VERSION} with Go, once per user, about two minutes`,
      program: 'helm',
      version: HELM_VERSION,
      sources: 'tools/helm',
      args: (folder) => ['build', '-v', '-trimpath', '-o', join(folder, 'helm'), 'helm.sh/helm/v3/cmd/helm'],
    },
    userCacheDir(),
  );
  // Helm has no `--version`, by which other programs are tried before they are taken.
  const found = (await pathWay('helm').kept()) ?? (await build.kept());
  if (found !== undefined || !build.make) return found ?? '';
  const impossible = await build.make.impossible?.();
  if (impossible !== undefined) throw new Error(impossible);
  report(`Helm: ${build.make.doing}.`);
  return build.make.run(report);
}

async function kubernetesValidate(): Promise<string> {
  return (await pythonTool('kubernetes-validate', KUBERNETES_VALIDATE)).program;
}

async function orNothing<T>(what: string, get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    report(`${what}: ${String(error)}. The tests that need it will not run.`);
    return undefined;
  }
}

const programs: Record<string, string | undefined> = {
  helm: await orNothing('Helm', helm),
  'kubernetes-validate': await orNothing('kubernetes-validate', kubernetesValidate),
};
for (const { program, install } of GENERATORS)
  programs[program] = await orNothing(program, () => install((line) => report(`${program}: ${line}.`)));
const packages = await orNothing('The frameworks of the sample code', samplePackages);

const folder = await mkdtemp(join(tmpdir(), 'hookline-programs-'));
try {
  for (const [name, path] of Object.entries(programs)) if (path) await symlink(path, join(folder, name));
  const { status } = spawnSync(
    'npx',
    ['mocha', ...process.argv.slice(2), 'test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    {
      env: {
        ...process.env,
        PATH: `${folder}${delimiter}${process.env['PATH']}`,
        ...(packages && { TEST_SAMPLE_PACKAGES: packages }),
      },
      stdio: 'inherit',
    },
  );
  process.exitCode = status ?? 1;
} finally {
  await rm(folder, { recursive: true });
}
