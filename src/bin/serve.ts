import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../config/schema.js';
import { formatDuration } from '../domain/basics/duration.js';
import { keepHeapsSmall } from './process/garbage.js';
import { createLogger } from './process/output.js';
import { withSdkMetrics } from './process/sdk-metrics.js';
import { untilStopped } from './process/stop.js';
import { ROLES, startService } from './service.js';

/** Runs the service until it is told to stop. */
export async function serve(configured: Settings, roleName: string): Promise<void> {
  const role = ROLES.find((known) => known === roleName);
  if (!role) throw new Error(`There is no role "${roleName}"; use one of: ${ROLES.join(', ')}.`);
  const settings = await withSdkMetrics(configured);
  const logger = createLogger(settings);
  keepHeapsSmall();
  const service = await startService(settings, role, logger);
  // First, because a reader of the log line that it serves may stop it at once.
  const told = untilStopped(service.failed);
  logger.info({ role, url: service.url }, 'serving');
  const signal = await told;
  const toldAt = performance.now();
  const drainMs = role === 'worker' ? 0 : settings.HOOKLINE_DRAIN;
  if (drainMs > 0) {
    logger.info({ signal }, `stopping: taking requests for ${formatDuration(drainMs)} more`);
    service.drain();
    await Promise.race([delay(drainMs), service.failed]);
  }
  logger.info({ signal }, 'stopping: finishing what is under way');
  // Time lost to a busy machine while draining is not added to the time to stop.
  await service.stop(toldAt + drainMs);
  logger.info('stopped');
}
