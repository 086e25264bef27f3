import { eventTypes, type History } from '../history.js';

/** Events of a history that Temporal Cloud bills as an Action each (https://docs.temporal.io/cloud/actions). */
const BILLED = new Set([
  'WORKFLOW_EXECUTION_STARTED',
  'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
  'ACTIVITY_TASK_SCHEDULED',
  'TIMER_STARTED',
  'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
  'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
]);

/**
 * The Actions that a history stands for, by the type of their event. All markers of a workflow task are one; a signal
 * with a start is one with the start; each further try of an activity is one. Heartbeats and queries stand in no
 * history.
 */
export function actionsIn(history: History): Record<string, number> {
  const counts: Record<string, number> = {};
  const add = (type: string, count = 1) => {
    if (count > 0) counts[type] = (counts[type] ?? 0) + count;
  };
  const types = eventTypes(history);
  const tasksWithMarkers = new Set<string>();
  for (const [index, type] of types.entries()) {
    const event = history.events?.[index];
    if (BILLED.has(type)) add(type);
    if (type === 'WORKFLOW_EXECUTION_SIGNALED' && types[index - 1] !== 'WORKFLOW_EXECUTION_STARTED')
      add(type);
    if (type === 'ACTIVITY_TASK_STARTED')
      add('further tries', (event?.activityTaskStartedEventAttributes?.attempt ?? 1) - 1);
    const task = event?.markerRecordedEventAttributes?.workflowTaskCompletedEventId;
    if (task) tasksWithMarkers.add(String(task));
  }
  add('MARKER_RECORDED', tasksWithMarkers.size);
  return counts;
}
