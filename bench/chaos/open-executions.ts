import { isoTimeOf } from '../../src/temporal/read/history.js';
import type { TemporalConnection } from '../../src/temporal/server/connection.js';
import type { Row } from './check/collected.js';

/** So many executions are looked at, those of the oldest deliveries, and so many of the last events of each. */
const MOST = 3;
const LAST_EVENTS = 12;

/**
 * Temporal's view of executions that are open although everything should have come to rest: their workflow task, which
 * Temporal can have given much time after it was lost several times, and how their histories end.
 */
export async function describeOpen(
  { client }: TemporalConnection,
  open: readonly Pick<Row, 'id' | 'workflow_id'>[],
): Promise<string[]> {
  const oldest = [...open].sort((one, other) => (one.id < other.id ? -1 : 1));
  const ids = [...new Set(oldest.map(({ workflow_id }) => workflow_id))];
  return Promise.all(
    ids.slice(0, MOST).map(async (id) => {
      const handle = client.workflow.getHandle(id);
      const { raw } = await handle.describe();
      const { events } = await handle.fetchHistory();
      const last = (events ?? [])
        .slice(-LAST_EVENTS)
        .map((event) => `${isoTimeOf(event)} ${event.eventType}`);
      const task = JSON.stringify(raw.pendingWorkflowTask ?? null);
      return `${id}: its workflow task: ${task}; ${events?.length} events, the last of them ${last.join(', ')}`;
    }),
  );
}
