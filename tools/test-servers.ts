import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import {
  type Found,
  findBinary,
  temporalWheel,
  userCacheDir,
  waysToTemporal,
  wheelWay,
} from '../packages/embedded-servers/src/index.js';

/**
 * Runs the tests of what depends on Temporal's server against each version that docs/operations.md names:
 * `npm run test:servers`. Arguments choose some of them: `npm run test:servers -- 1.31`. The older servers are fetched
 * from PyPI with pip or uv.
 */
const FILES = [
  'test/system/{delivery,replays,records}/*.test.ts',
  ...['ledger-queries', 'query', 'query-quoting', 'tenancy'].map(
    (name) => `test/system/access/${name}.test.ts`,
  ),
  'test/system/events/business-keys.test.ts',
];
const report = (line: string) => process.stderr.write(`${line}\n`);

/** Versions of the server, and how the command line of each is found. */
const SERVERS: Record<string, () => Promise<Found>> = {
  '1.29': () =>
    fetched('1.5.1', {
      'linux-x64': 'a24b9b2b1b837871fd4946a7f095e39c40e81a72aec902ea6e67908e575c03bc',
      'linux-arm64': '0e34ed3e98462501a06346ce0c30480cfc9533854706d66f438cb0f154384a4d',
      'darwin-x64': 'aa3c9523c1f74e84b658a647a7e3b88e82273d1d62a1db1a443de4b385d75bc4',
      'darwin-arm64': 'b0ddac086f57f707fdcde75d43f8df63fb8104644109475f5bcf513c4b6c7920',
    }),
  '1.31': () =>
    fetched('1.8.3', {
      'linux-x64': 'ec9e76c63900e75719d9226ddd0a440849b2cc389db21efaa8d4c8342fc96509',
      'linux-arm64': 'f2fe5d48e81ce63f2ad415991cb624c035f4d9e2f37f1464904cbc205f8ce289',
      'darwin-x64': '622ba9a59370ac850a33fcaacf30688328240717ff93508c6907543ab0b0520a',
      'darwin-arm64': 'fb48c41bf0fa994e61fcbc56038c42e92eceeb8528a7aa5bfc87d8ac70436460',
    }),
  // Whatever is on PATH may be of another version.
  '1.32': () => {
    const ways = waysToTemporal(userCacheDir()).filter(({ how }) => how !== 'path');
    return findBinary('Temporal', 'the default is tested', ways, report);
  },
};

function fetched(version: string, sums: Parameters<typeof temporalWheel>[1]): Promise<Found> {
  const way = wheelWay(temporalWheel(version, sums), userCacheDir());
  return findBinary('Temporal', `version ${version} is wanted`, [way], report);
}

const chosen = process.argv.slice(2);
const unknown = chosen.filter((version) => !Object.hasOwn(SERVERS, version));
if (unknown.length > 0)
  throw new Error(`There is no server ${unknown.join(', ')}: ${Object.keys(SERVERS).join(', ')}.`);

const results: string[] = [];
for (const [version, find] of Object.entries(SERVERS)) {
  if (chosen.length > 0 && !chosen.includes(version)) continue;
  const { binary } = await find();
  const folder = await mkdtemp(join(tmpdir(), 'hookline-servers-'));
  try {
    await symlink(binary, join(folder, 'temporal'));
    report(`\n==> ${spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim()}`);
    // What is on PATH is taken before anything else.
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
    const { status } = spawnSync('npx', ['mocha', ...FILES], { env, stdio: 'inherit' });
    results.push(`${version}: ${status === 0 ? 'passed' : 'FAILED'}`);
    if (status !== 0) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true });
  }
}
report(`\nServers: ${results.join(', ')}`);
