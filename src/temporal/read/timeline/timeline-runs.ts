import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import type { DeliverEventInput } from '../../../../workflows/inputs.js';
import { endpointChanged, releaseMembers } from '../../../../workflows/messages.js';
import {
  type DeliveryRecord,
  isClosed,
  type ShownRecord,
  shownReason,
} from '../../../domain/delivery/delivery.js';
import type { DeliverySnapshot } from '../../../domain/delivery/delivery-state.js';
import {
  NOTHING_YET,
  type RunAccount,
  type RunEntry,
  type TimelineItem,
} from '../../../domain/explain/timeline.js';
import { readGroup } from '../group/group-history.js';
import { decodeAll, decodeFirst, eventsOf, type HistoryEvent, isoTimeOf } from '../history-events.js';
import { terminationOf } from '../termination.js';
import type { Execution } from '../visibility/visibility.js';

const RESET = proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW;

type Run = Pick<Execution, 'workflowId' | 'runId'>;

/** What one run tells, and the run that it continues: of its group, or the group's before. */
export interface RunRead {
  account: RunAccount;
  continues: Run | undefined;
}

/** The account of a delivery's own execution. */
export async function readSingleRun(client: Client, run: Run): Promise<RunRead> {
  const told = new Told(run);
  for await (const event of eventsOf(client, run)) {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started) {
      const input = (await decodeFirst(client, started.input?.payloads)) as DeliverEventInput;
      told.begin(event, started, input.so_far?.record, startOf(input));
      if (input.resent) told.record(event, { ...NOTHING_YET, interventions: [input.resent] });
    }
    const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.['delivery'];
    if (memo) told.record(event, (await decodeFirst(client, [memo])) as DeliveryRecord);
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === endpointChanged.name && told.isWaiting) {
      const [, , isProbe] = await decodeAll(client, signal.input?.payloads);
      told.item(released(event, isProbe === true));
    }
    const completed = event.workflowExecutionCompletedEventAttributes;
    if (completed)
      told.record(event, (await decodeFirst(client, completed.result?.payloads)) as DeliveryRecord);
    told.note(event);
  }
  return told.read();
}

/**
 * The accounts of deliveries in the run of their group, by index.
 *
 * @param indexes of the deliveries in the group
 * @param until when they left the group, or the group carried on in another run; ISO 8601, UTC
 */
export async function readGroupRun(
  client: Client,
  run: Run,
  indexes: readonly number[],
  until: string | undefined,
): Promise<Map<number, RunRead>> {
  const tellings = indexes.map((index) => ({ index, told: new Told(run), state: '' }));
  await readGroup(client, run, (event, machine) => {
    if (until !== undefined && isoTimeOf(event) >= until) return;
    const started = event.workflowExecutionStartedEventAttributes;
    const isRelease = event.workflowExecutionSignaledEventAttributes?.signalName === releaseMembers.name;
    for (const telling of tellings) {
      const { told } = telling;
      const member = machine.member(telling.index);
      if (started) {
        const isLater = Boolean(started.continuedExecutionRunId);
        // Not of how many: some may be another account's.
        const text = isLater
          ? 'Its group carried on in a new run.'
          : 'Started in a group with other deliveries.';
        told.begin(event, started, isLater ? copyOf(member?.record) : undefined, { type: 'started', text });
      }
      const now = JSON.stringify(member?.snapshot.state);
      if (isRelease && member && now !== telling.state) told.item(released(event, isProbed(member.snapshot)));
      telling.state = now;
      if (member) told.record(event, member.record ?? NOTHING_YET);
      told.note(event);
    }
  });
  return new Map(tellings.map(({ index, told }) => [index, told.read()]));
}

/** Collects what a run tells, event by event. */
class Told {
  private readonly run: Run;
  private readonly entries: RunEntry[] = [];
  private started: TimelineItem | undefined;
  private before: ShownRecord = NOTHING_YET;
  private last: ShownRecord = NOTHING_YET;
  private lastText = JSON.stringify(NOTHING_YET);
  private continues: Run | undefined;

  constructor(run: Run) {
    this.run = run;
  }

  get isWaiting(): boolean {
    return this.last.status === 'parked' || this.last.status === 'retrying';
  }

  begin(
    event: HistoryEvent,
    started: temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes,
    before: DeliveryRecord | undefined,
    how: Pick<TimelineItem, 'type' | 'text'>,
  ): void {
    const { workflowId, runId } = this.run;
    this.started = { at: isoTimeOf(event), ...how, workflow_id: workflowId, run_id: runId };
    if (before) this.before = before;
    this.last = this.before;
    this.lastText = JSON.stringify(this.before);
    const { continuedExecutionRunId, parentWorkflowExecution: parent } = started;
    if (continuedExecutionRunId) this.continues = { workflowId, runId: continuedExecutionRunId };
    else if (before && parent?.workflowId && parent.runId)
      this.continues = { workflowId: parent.workflowId, runId: parent.runId };
  }

  /** The delivery's record at the time of an event. It is copied: a machine goes on changing its record. */
  record(event: HistoryEvent, record: ShownRecord): void {
    const text = JSON.stringify(record);
    if (text === this.lastText) return;
    this.last = structuredClone(record);
    this.lastText = text;
    this.entries.push({ at: isoTimeOf(event), record: this.last });
  }

  item(item: TimelineItem): void {
    this.entries.push({ item });
  }

  /** What every execution tells in the same way. */
  note(event: HistoryEvent): void {
    const failed = event.workflowTaskFailedEventAttributes;
    if (failed?.cause === RESET) {
      const by = failed.identity ?? '';
      const text = `Reset in Temporal: ${failed.failure?.message || 'no reason given'}.`;
      this.item({ at: isoTimeOf(event), type: 'reset', text, ...(by && { by }) });
    }
    const termination = terminationOf(event);
    if (termination && !isClosed(this.last.status)) {
      const { attempts, interventions = [] } = this.last;
      const { reason, intervention } = termination;
      this.record(event, {
        status: 'terminated',
        attempts,
        reason,
        interventions: [...interventions, intervention],
      });
    }
  }

  read(): RunRead {
    const { started, before, entries, continues } = this;
    if (!started) throw new Error('a history without its first event');
    if (this.last.status === 'delivering' && this.last.next_attempt_at === undefined)
      entries.push({ item: { at: started.at, type: 'wait', text: shownReason('delivering', undefined) } });
    return { account: { started, before, entries }, continues };
  }
}

function startOf({ so_far, resent }: DeliverEventInput): Pick<TimelineItem, 'type' | 'text'> {
  if (so_far) return { type: 'left_group', text: 'Left its group, and goes on as an execution of its own.' };
  return {
    type: 'started',
    text: resent?.action === 'resend' ? 'Started again.' : 'Started as an execution of its own.',
  };
}

function released(event: HistoryEvent, isProbe: boolean): TimelineItem {
  const at = isoTimeOf(event);
  if (isProbe)
    return { at, type: 'probed', text: 'Chosen for a probe, to see whether its endpoint answers again.' };
  return { at, type: 'released', text: 'Released: its endpoint takes deliveries again, or was changed.' };
}

/** Whether the next attempt of a delivery is a probe. */
function isProbed({ state }: DeliverySnapshot): boolean {
  return state.kind === 'called' && state.trigger === 'probe';
}

/** The machine goes on changing its record. */
function copyOf(record: DeliveryRecord | undefined): DeliveryRecord | undefined {
  return record && structuredClone(record);
}
