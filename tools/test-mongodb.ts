import { spawnSync } from 'node:child_process';
import { startSecantus } from '../test/support/outside/secantus.js';

/**
 * Runs the tests of what depends on MongoDB against SecantusDB, an independent server of its protocol over WiredTiger:
 * `npm run test:mongodb`. Arguments choose files. Any other server is tried by `TEST_MONGODB_URI=… npx mocha …`, which
 * this sets.
 */
const FILES = [
  'test/system/{log,changes,limits,events}/*.test.ts',
  'test/system/operations/mongodb-conformance.test.ts',
];

const server = await startSecantus();
if (typeof server === 'string') {
  process.stderr.write(`${server} Nothing was tried.\n`);
} else {
  const chosen = process.argv.slice(2);
  const env = { ...process.env, TEST_MONGODB_URI: server.uri };
  const { status } = spawnSync('npx', ['mocha', ...(chosen.length > 0 ? chosen : FILES)], {
    env,
    stdio: 'inherit',
  });
  await server.stop();
  process.exitCode = status ?? 1;
}
