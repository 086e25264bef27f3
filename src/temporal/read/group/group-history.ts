import type { Client } from '@temporalio/client';
import { type Release, releaseMembers } from '../../../../workflows/messages.js';
import type { AttemptReport } from '../../../domain/delivery/attempt-report.js';
import {
  GroupMachine,
  type LiveGroup,
  type MemberAttempt,
  type ReleasedAttempts,
} from '../../../domain/delivery/delivery-group.js';
import { decodeFirst, eventsOf, type HistoryEvent, timeOf } from '../history-events.js';

type Reports = (AttemptReport | null)[];

/** The marker that the SDK leaves for a local activity. */
const LOCAL_ACTIVITY = 'core_local_activity';

/** Attempts that have ended, and the event that says so. */
interface Ended {
  event: HistoryEvent;
  attempts: MemberAttempt[];
  reports: Reports;
}

/**
 * The deliveries of a group as its history has them, whether a worker runs or not: reports of attempts, releases and the passing of time,
 * taken in by the same machine as in the workflow, and in the order in which the workflow hears of them. A task tells it of all signals
 * first, and then of attempts, also of those that ended before.
 *
 * @param watch is called after each event has been taken in
 */
export async function readGroup(
  client: Client,
  execution: { workflowId: string; runId: string },
  watch: (event: HistoryEvent, machine: GroupMachine) => void | Promise<void> = () => {},
): Promise<GroupMachine | undefined> {
  const scheduled = new Map<string, MemberAttempt[]>();
  let machine: GroupMachine | undefined;
  let ended: Ended[] = [];
  let taskStartedAt: number | undefined;

  const endTask = async (group: GroupMachine) => {
    for (const { event, attempts, reports } of ended) {
      group.settle(attempts, reports, timeOf(event));
      await watch(event, group);
    }
    ended = [];
    // The workflow looks at the time whenever it is given a task: so a parked delivery expires without any other trace.
    if (taskStartedAt !== undefined) group.step(taskStartedAt);
    taskStartedAt = undefined;
  };

  for await (const event of eventsOf(client, execution)) {
    const at = timeOf(event);
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      machine = new GroupMachine((await decodeFirst(client, started.input?.payloads)) as LiveGroup, at);
    }
    if (!machine) continue;
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName === LOCAL_ACTIVITY && marker.details?.['result']) {
      const made = (await decodeFirst(client, marker.details['result'].payloads)) as
        | Reports
        | ReleasedAttempts;
      // What has just been released is named in the result: the marker does not show what was asked for.
      const { attempts, reports } =
        'attempts' in made ? made : { attempts: machine.firstAttempts, reports: made };
      machine.begin(attempts);
      machine.settle(attempts, reports, at);
    }
    const attempts = event.activityTaskScheduledEventAttributes;
    if (attempts?.activityType?.name === 'attemptMembers') {
      const request = (await decodeFirst(client, attempts.input?.payloads)) as { attempts: MemberAttempt[] };
      machine.begin(request.attempts);
      scheduled.set(String(event.eventId), request.attempts);
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const made = completed && scheduled.get(String(completed.scheduledEventId));
    if (made) {
      const reports = (await decodeFirst(client, completed.result?.payloads)) as Reports;
      ended.push({ event, attempts: made, reports });
      continue;
    }
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === releaseMembers.name) {
      const release = (await decodeFirst(client, signal.input?.payloads)) as Release;
      machine.release(release.endpoint_id, release.limit, release.most, release.probe);
    }
    if (event.workflowTaskStartedEventAttributes) taskStartedAt = at;
    // What it was to tell is told by the next one.
    if (event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes)
      taskStartedAt = undefined;
    if (event.workflowTaskCompletedEventAttributes) await endTask(machine);
    await watch(event, machine);
  }
  if (machine) await endTask(machine);
  return machine;
}
