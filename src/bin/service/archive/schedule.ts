import type { Client } from '@temporalio/client';
import type { Settings } from '../../../config/schema.js';
import { prepareArchiveSchedule } from '../../../temporal/write/archive/archive-schedule.js';

/** Makes the Schedule that the settings ask for. */
export function prepareSchedule(settings: Settings, client: Client): Promise<void> {
  return prepareArchiveSchedule({
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    intervalMs: settings.HOOKLINE_ARCHIVE_INTERVAL,
    retentionDays: settings.HOOKLINE_RETENTION_DAYS,
  });
}
