import { runSchemathesis } from './foreign-clients/schemathesis.js';
import { startForeignSystem } from './foreign-clients/system.js';

/**
 * Has schemathesis (Python) try the API against its own OpenAPI document, with all of its checks, on servers of its
 * own: `npm run fuzz:api`. Further arguments go to `schemathesis run`.
 */
const MAX_TIME_S = 60;

const system = await startForeignSystem((line) => process.stderr.write(`${line}\n`));
try {
  const { status } = await runSchemathesis(system, MAX_TIME_S, process.argv.slice(2));
  process.exitCode = status;
} finally {
  await system.stop();
}
