import { keepHeapsSmall } from '../../src/bin/process/garbage.js';
import { createLogger } from '../../src/bin/process/output.js';
import { untilStopped } from '../../src/bin/process/stop.js';
import { startService } from '../../src/bin/service.js';
import { loadSettings } from '../../src/config/load.js';

/** The service as it is. */
const settings = loadSettings();
keepHeapsSmall();
const service = await startService(settings, 'all', createLogger(settings));
process.send?.({ url: service.url });
// The benchmark has ended without stopping this process.
process.once('disconnect', () => process.exit(1));
await untilStopped(service.failed);
await service.stop();
process.removeAllListeners('disconnect');
process.disconnect();
