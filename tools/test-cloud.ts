import { spawnSync } from 'node:child_process';

/**
 * Runs the tests of events, lists, replays and the records as on Temporal Cloud: `npm run test:cloud`. Namespace and
 * search attributes are there beforehand, what administers them is refused, every call needs the API key, 30 lists and
 * counts a second are allowed, and a search attribute holds 2 KiB. One file runs after the other, because they share
 * the 30. Arguments choose other files.
 */
const FILES = [
  ...['claims', 'business-keys', 'payloads'].map((name) => `events/${name}`),
  ...['delivery', 'fan-out', 'list-filters', 'list-combinations', 'views'].map((name) => `delivery/${name}`),
  ...['replays', 'missed'].map((name) => `replays/${name}`),
  ...['records', 'lists', 'run'].map((name) => `records/${name}`),
].map((name) => `test/system/${name}.test.ts`);

const chosen = process.argv.slice(2);
const { status } = spawnSync('npx', ['mocha', '--no-parallel', ...(chosen.length > 0 ? chosen : FILES)], {
  env: { ...process.env, TEST_CLOUD: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
