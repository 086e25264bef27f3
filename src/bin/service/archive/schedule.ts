import type { Client } from '@temporalio/client';
import type { Settings } from '../../../config/schema.js';
import type { ArchiveScheduleOptions } from '../../../temporal/write/archive/archive-schedule.js';

/** The Schedule that the settings ask for. */
export function archiveScheduleOf(settings: Settings, client: Client): ArchiveScheduleOptions {
  return {
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    intervalMs: settings.HOOKLINE_ARCHIVE_INTERVAL,
    retentionDays: settings.HOOKLINE_RETENTION_DAYS,
  };
}
