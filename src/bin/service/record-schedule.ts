import type { Client } from '@temporalio/client';
import type { Settings } from '../../config/schema.js';
import { prepareRecordSchedule } from '../../temporal/write/record-schedule.js';

/** Makes the Schedule that the settings ask for. */
export function prepareSchedule(settings: Settings, client: Client): Promise<void> {
  return prepareRecordSchedule({
    client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    intervalMs: settings.HOOKLINE_LOG_INTERVAL,
  });
}
