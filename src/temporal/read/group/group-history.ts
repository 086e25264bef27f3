import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { act, actIn, actorOf, release } from '../../../../workflows/messages.js';
import type { AttemptReport } from '../../../domain/attempt/attempt-report.js';
import {
  GroupMachine,
  type LiveGroup,
  type MemberAttempt,
  type Release,
  type ReleasedAttempts,
} from '../../../domain/delivery/delivery-group.js';
import { decodeFirst, eventsOf, type HistoryEvent, type Run, timeOf } from '../history.js';

type Reports = (AttemptReport | null)[];
type UpdateInput = temporal.api.update.v1.IInput | null | undefined;

/** Is called after each event has been taken in. */
export type Watch = (event: HistoryEvent, machine: GroupMachine) => void | Promise<void>;

/** The marker that the SDK leaves for a local activity. */
const LOCAL_ACTIVITY = 'core_local_activity';

/**
 * Something that the next workflow task tells the workflow of, and the event that says so.
 *
 * @param now milliseconds since the epoch
 */
interface News {
  event: HistoryEvent;
  tell(machine: GroupMachine, now: number): void;
}

/**
 * The deliveries of an execution as its history has them, whether a worker runs or not: reports of attempts, releases,
 * acts and the passing of time, taken in by the same machine as in the workflow, and in the order in which the workflow
 * hears of them.
 */
export async function readGroup(
  client: Client,
  run: Run,
  watch: Watch = () => {},
): Promise<GroupMachine | undefined> {
  let reading: Reading | undefined;
  for await (const event of eventsOf(client, run)) {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      const input = (await decodeFirst(client, started.input?.payloads)) as LiveGroup;
      reading = new Reading(client, input, timeOf(event), watch);
    }
    await reading?.take(event);
  }
  await reading?.endTask();
  return reading?.machine;
}

class Reading {
  readonly machine: GroupMachine;
  private readonly client: Client;
  private readonly watch: Watch;
  private readonly scheduled = new Map<string, MemberAttempt[]>();
  private readonly admitted = new Map<string, UpdateInput>();
  /** A task tells of all signals first, then of acts, and then of attempts, also of those that ended before. */
  private signals: News[] = [];
  private acts: News[] = [];
  private ended: News[] = [];
  private isCancelRequested = false;
  private readonly began: number;
  private taskStartedAt: number | undefined;
  private isTaskCompleted = false;

  /** @param began when its run began, milliseconds since the epoch */
  constructor(client: Client, input: LiveGroup, began: number, watch: Watch) {
    this.client = client;
    this.machine = new GroupMachine(input, began);
    this.began = began;
    this.watch = watch;
  }

  async take(event: HistoryEvent): Promise<void> {
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    // Acts stand behind the end of the task that they came with, and before what it did.
    if (this.isTaskCompleted && !accepted && !event.workflowExecutionUpdateCompletedEventAttributes)
      await this.endTask();
    if (await this.isNews(event)) return;
    await this.takeAttempts(event);
    if (event.workflowTaskStartedEventAttributes) this.taskStartedAt = timeOf(event);
    // What it was to tell is told by the next one.
    if (event.workflowTaskFailedEventAttributes ?? event.workflowTaskTimedOutEventAttributes)
      this.taskStartedAt = undefined;
    if (event.workflowTaskCompletedEventAttributes) this.isTaskCompleted = true;
    await this.watch(event, this.machine);
  }

  /**
   * Tells the machine what the task that has ended told the workflow; at the end of a history also what the next one
   * will.
   */
  async endTask(): Promise<void> {
    const { machine, taskStartedAt } = this;
    const news = [...this.signals, ...this.acts, ...this.ended];
    this.signals = [];
    this.acts = [];
    this.ended = [];
    for (const { event, tell } of news) {
      tell(machine, taskStartedAt ?? timeOf(event));
      await this.watch(event, machine);
    }
    if (taskStartedAt !== undefined) {
      if (this.isCancelRequested) machine.cancelSole(taskStartedAt);
      // The workflow looks at the time whenever it is given a task: so a parked delivery expires without any other
      // trace.
      machine.step(taskStartedAt);
    }
    this.taskStartedAt = undefined;
    this.isTaskCompleted = false;
  }

  private async isNews(event: HistoryEvent): Promise<boolean> {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === release.name) {
      const some = (await decodeFirst(this.client, signal.input?.payloads)) as Release;
      this.signals.push({ event, tell: (machine, now) => machine.release(some, now) });
      return true;
    }
    const input = this.actIn(event);
    if (input?.name === act.name) {
      const order = await decodeFirst(this.client, input.args?.payloads);
      const { action, delivery } = actIn(order);
      const tell = (machine: GroupMachine, now: number) =>
        action && machine.act(machine.find(delivery), action, actorOf(order), now);
      this.acts.push({ event, tell });
      return true;
    }
    const completed = event.activityTaskCompletedEventAttributes;
    const made = completed && this.scheduled.get(String(completed.scheduledEventId));
    if (made) {
      const reports = (await decodeFirst(this.client, completed.result?.payloads)) as Reports;
      this.ended.push({ event, tell: (machine, now) => void machine.settle(made, reports, now) });
      return true;
    }
    if (event.workflowExecutionCancelRequestedEventAttributes) this.isCancelRequested = true;
    return false;
  }

  /**
   * What an update that is accepted asks for. Of one that a reset in Temporal has taken over, an earlier event says it.
   */
  private actIn(event: HistoryEvent): UpdateInput {
    const admitted = event.workflowExecutionUpdateAdmittedEventAttributes?.request;
    if (admitted?.meta?.updateId) this.admitted.set(admitted.meta.updateId, admitted.input);
    const accepted = event.workflowExecutionUpdateAcceptedEventAttributes;
    return (
      accepted && (accepted.acceptedRequest?.input ?? this.admitted.get(accepted.protocolInstanceId ?? ''))
    );
  }

  private async takeAttempts(event: HistoryEvent): Promise<void> {
    const { client, machine } = this;
    const marker = event.markerRecordedEventAttributes;
    if (marker?.markerName === LOCAL_ACTIVITY && marker.details?.['result']) {
      const made = (await decodeFirst(client, marker.details['result'].payloads)) as
        | Reports
        | ReleasedAttempts;
      // What has just been released is named in the result: the marker does not show what was asked for.
      const { attempts, reports } =
        'attempts' in made ? made : { attempts: machine.firstAttempts, reports: made };
      machine.begin(attempts);
      machine.settle(attempts, reports, 'attempts' in made ? timeOf(event) : this.began);
    }
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled?.activityType?.name === 'attemptMembers') {
      const request = (await decodeFirst(client, scheduled.input?.payloads)) as { attempts: MemberAttempt[] };
      machine.begin(request.attempts);
      this.scheduled.set(String(event.eventId), request.attempts);
    }
  }
}
