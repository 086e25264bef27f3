import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepHeapsSmall } from '../../src/bin/process/garbage.js';
import { createLogger } from '../../src/bin/process/output.js';
import { untilStopped } from '../../src/bin/process/stop.js';
import { startService } from '../../src/bin/service.js';
import { loadSettings } from '../../src/config/load.js';
import { buildWorkflowBundle } from '../../src/temporal/server/bundle.js';

/**
 * The same service done the plain way: no eager start, because API and worker do not share a connection, and
 * `bench/plain`.
 */
const settings = loadSettings();
keepHeapsSmall();
const logger = createLogger(settings);
const bundle = join(process.env['BENCH_FOLDER'] ?? '.', 'plain-bundle.js');
await buildWorkflowBundle(bundle, fileURLToPath(new URL('../plain/index.js', import.meta.url)));
const worker = await startService(settings, 'worker', logger, { bundlePath: bundle });
const api = await startService(settings, 'api', logger);
process.send?.({ url: api.url });
// The benchmark has ended without stopping this process.
process.once('disconnect', () => process.exit(1));
await untilStopped(worker.failed);
await api.stop();
await worker.stop();
process.removeAllListeners('disconnect');
process.disconnect();
