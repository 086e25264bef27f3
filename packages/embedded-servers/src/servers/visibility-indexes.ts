/**
 * Statements that drop indexes of visibility for which Hookline has no query. Temporal makes 58, one for each attribute
 * that there may be, and each start, change and end of an execution writes all of them, which takes five times as long
 * as with four. Only data that are thrown away are treated so.
 *
 * They run as a part of a pragma, when a server opens a database in which they are. Temporal's dev server has no
 * setting for its schema and no other way to its SQLite, and Node.js itself can open the file only from 22.5 on
 * (`node:sqlite`). An index that a version of Temporal names otherwise stays, and costs time alone; a test lists those
 * that are left.
 */
export const DROP_INDEXES = [
  ...['execution_time', 'workflow_type', 'history_length', 'history_size_bytes', 'execution_duration'],
  ...['state_transition_count', 'task_queue', 'parent_workflow_id', 'parent_run_id', 'root_workflow_id'],
  ...['root_run_id', 'batcher_user', 'temporal_scheduled_start_time', 'temporal_scheduled_by_id'],
  ...['temporal_schedule_paused', 'temporal_pause_info', 'temporal_worker_deployment_version'],
  ...['temporal_workflow_versioning_behavior', 'temporal_worker_deployment'],
  ...numbered(['bool', 'datetime', 'double', 'int'], 3),
  ...numbered(['keyword'], 10),
  ...numbered(['temporal_bool', 'temporal_datetime', 'temporal_double', 'temporal_int'], 2),
  ...numbered(['temporal_keyword'], 4),
  ...numbered(['temporal_low_cardinality_keyword'], 1),
].map((name) => `DROP INDEX IF EXISTS by_${name}`);

function numbered(names: readonly string[], count: number): string[] {
  const numbers = Array.from({ length: count }, (_, index) => String(index + 1).padStart(2, '0'));
  return names.flatMap((name) => numbers.map((number) => `${name}_${number}`));
}
