import type { Client } from '@temporalio/client';
import { type Release, releaseMembers } from '../../../../workflows/messages.js';
import type { AttemptReport } from '../../../domain/delivery/attempt-report.js';
import { GroupMachine, type LiveGroup, type MemberAttempt } from '../../../domain/delivery/delivery-group.js';
import { decodeFirst, eventsOf, type HistoryEvent, timeOf } from '../history-events.js';

type Reports = (AttemptReport | null)[];

/** The marker that the SDK leaves for a local activity. */
const LOCAL_ACTIVITY = 'core_local_activity';

/**
 * The deliveries of a group as its history has them, whether a worker runs or not: reports of attempts, releases and the passing of time,
 * taken in by the same machine as in the workflow.
 *
 * @param watch is called after each event
 */
export async function readGroup(
  client: Client,
  execution: { workflowId: string; runId: string },
  watch: (event: HistoryEvent, machine: GroupMachine) => void | Promise<void> = () => {},
): Promise<GroupMachine | undefined> {
  const scheduled = new Map<string, MemberAttempt[]>();
  let machine: GroupMachine | undefined;
  for await (const event of eventsOf(client, execution)) {
    const at = timeOf(event);
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      machine = new GroupMachine((await decodeFirst(client, started.input?.payloads)) as LiveGroup, at);
    }
    if (!machine) continue;
    const first = event.markerRecordedEventAttributes;
    if (first?.markerName === LOCAL_ACTIVITY && first.details?.['result']) {
      const reports = (await decodeFirst(client, first.details['result'].payloads)) as Reports;
      machine.settle(machine.firstAttempts, reports, at);
    }
    const attempts = event.activityTaskScheduledEventAttributes;
    if (attempts?.activityType?.name === 'attemptMembers') {
      const request = (await decodeFirst(client, attempts.input?.payloads)) as { attempts: MemberAttempt[] };
      scheduled.set(String(event.eventId), request.attempts);
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const made = completed && scheduled.get(String(completed.scheduledEventId));
    if (made) {
      const reports = (await decodeFirst(client, completed.result?.payloads)) as Reports;
      machine.settle(made, reports, at);
    }
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === releaseMembers.name) {
      const release = (await decodeFirst(client, signal.input?.payloads)) as Release;
      machine.release(release.endpoint_id, release.limit, release.most);
    }
    // The workflow looks at the time whenever it is given a task: so a parked delivery expires without any other trace.
    if (event.workflowTaskStartedEventAttributes) machine.step(at);
    await watch(event, machine);
  }
  return machine;
}
