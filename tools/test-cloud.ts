import { spawnSync } from 'node:child_process';

/**
 * Runs the tests of events, lists, replays and the archive as on Temporal Cloud: `npm run test:cloud`. Namespace and search attributes are there beforehand,
 * what administers them is refused, every call needs the API key, and 30 lists and counts a second are allowed. Arguments choose other files.
 */
const FILES = [
  'test/system/operations/cloud.test.ts',
  'test/system/events/{claims,business-keys,payloads}.test.ts',
  'test/system/delivery/{delivery,list-filters,list-combinations,views}.test.ts',
  'test/system/replays/{replays,missed}.test.ts',
  'test/system/archive/{archive,lists}.test.ts',
];
const chosen = process.argv.slice(2);
const { status } = spawnSync('npx', ['mocha', ...(chosen.length > 0 ? chosen : FILES)], {
  env: { ...process.env, TEST_CLOUD: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
