import { spawnSync } from 'node:child_process';

/**
 * Runs tests on other versions of Node.js: `npm run test:node`, and `npm run test:node -- 24` for one of them. Node.js
 * comes as a package from npm, for this run alone. The rules, the histories, and a service that takes and delivers
 * events; the rest of the suite says nothing more about Node.js.
 */
const VERSIONS = ['22', '24'];
const FILES = ['test/{unit,workflow,replay}/**/*.test.ts', 'test/system/events/*.test.ts'];

const [, , ...asked] = process.argv;
const wanted = asked.length > 0 ? asked : VERSIONS;
const unknown = wanted.filter((version) => !/^\d+(\.\d+){0,2}$/.test(version));
if (unknown.length > 0) throw new Error(`Not a version of Node.js: ${unknown.join(', ')}.`);

const results = wanted.map((version) => {
  const node = [
    'exec',
    '--yes',
    `--package=node-${process.platform}-${process.arch}@${version}`,
    '--',
    'node',
  ];
  const found = spawnSync('npm', [...node, '--version'], { encoding: 'utf8' });
  if (found.status !== 0) return `${version}: not to be had (${lastLine(found.stderr)})`;
  process.stderr.write(`\n==> Node.js ${found.stdout.trim()}\n`);
  const { status } = spawnSync('npm', [...node, 'node_modules/mocha/bin/mocha.js', ...FILES], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
  return `${found.stdout.trim()}: ${status === 0 ? 'passed' : 'FAILED'}`;
});
process.stderr.write(`\nNode.js: ${results.join(', ')}\n`);

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
