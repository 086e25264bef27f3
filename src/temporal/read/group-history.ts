import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';
import type { AttemptReport } from '../../domain/delivery/attempt-report.js';
import { GroupMachine, type LiveGroup, type MemberAttempt } from '../../domain/delivery/delivery-group.js';

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Reports = (AttemptReport | null)[];

/**
 * The deliveries of a group as its history has them, whether a worker runs or not: the reports of their attempts, taken in by the same
 * machine as in the workflow. What is not in the history is left out: a delivery that expired without an attempt is still parked here.
 */
export async function readGroup(
  client: Client,
  execution: { workflowId: string; runId: string },
): Promise<GroupMachine | undefined> {
  const decode = (payloads: temporal.api.common.v1.IPayload[] | null | undefined): Promise<unknown[]> =>
    decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  const scheduled = new Map<string, MemberAttempt[]>();
  let machine: GroupMachine | undefined;
  for await (const event of eventsOf(client, execution)) {
    const at = timeOf(event);
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      const [group] = await decode(started.input?.payloads);
      machine = new GroupMachine(group as LiveGroup, at);
    }
    const first = event.markerRecordedEventAttributes;
    if (machine && first?.markerName === LOCAL_ACTIVITY && first.details?.['result']) {
      const [reports] = await decode(first.details['result'].payloads);
      machine.settle(machine.firstAttempts, reports as Reports, at);
    }
    const attempts = event.activityTaskScheduledEventAttributes;
    if (attempts?.activityType?.name === 'attemptMembers') {
      const [request] = await decode(attempts.input?.payloads);
      scheduled.set(String(event.eventId), (request as { attempts: MemberAttempt[] }).attempts);
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const made = completed && scheduled.get(String(completed.scheduledEventId));
    if (machine && made) {
      const [reports] = await decode(completed.result?.payloads);
      machine.settle(made, reports as Reports, at);
    }
  }
  return machine;
}

/** The marker that the SDK leaves for a local activity. */
const LOCAL_ACTIVITY = 'core_local_activity';

async function* eventsOf(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): AsyncIterable<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page: temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse =
      await client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
        ...(nextPageToken && { nextPageToken }),
      });
    yield* page.history?.events ?? [];
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
}

/** Milliseconds since the epoch. */
function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
