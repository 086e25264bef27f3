import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import { release } from '../../../../workflows/messages.js';
import {
  type DeliveryRecord,
  isClosed,
  type ShownRecord,
  shownReason,
  shownRecord,
} from '../../../domain/delivery/delivery.js';
import type { GroupMachine } from '../../../domain/delivery/delivery-group.js';
import type { DeliverySnapshot } from '../../../domain/delivery/delivery-state.js';
import {
  NOTHING_YET,
  type RunAccount,
  type RunEntry,
  type TimelineItem,
} from '../../../domain/explain/timeline.js';
import { readGroup } from '../group/group-history.js';
import { type HistoryEvent, isoTimeOf, type Run, terminationOf } from '../history.js';

const RESET = proto.temporal.api.enums.v1.WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW;

/** What one run tells, and the run that it continues. */
export interface RunRead {
  account: RunAccount;
  continues: Run | undefined;
}

/**
 * The accounts of deliveries in a run of their execution, by index.
 *
 * @param indexes of the deliveries in the execution
 */
export async function readRun(
  client: Client,
  run: Run,
  indexes: readonly number[],
): Promise<Map<number, RunRead>> {
  const tellings = indexes.map((index) => ({ index, told: new Told(run), state: '' }));
  await readGroup(client, run, (event, machine) => {
    const started = event.workflowExecutionStartedEventAttributes;
    const isRelease = event.workflowExecutionSignaledEventAttributes?.signalName === release.name;
    for (const telling of tellings) {
      const { told } = telling;
      const member = machine.member(telling.index);
      if (started) {
        const isLater = Boolean(started.continuedExecutionRunId);
        const text = startOf(machine, isLater);
        told.begin(event, started, isLater ? copyOf(member?.record) : undefined, text);
      }
      const now = JSON.stringify(member?.snapshot.state);
      if (isRelease && member && now !== telling.state) told.item(released(event, isProbed(member.snapshot)));
      telling.state = now;
      if (member) told.record(event, shownRecord(member.record));
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

  begin(
    event: HistoryEvent,
    started: temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes,
    before: ShownRecord | undefined,
    text: string,
  ): void {
    const { workflowId, runId } = this.run;
    this.started = { at: isoTimeOf(event), type: 'started', text, workflow_id: workflowId, run_id: runId };
    if (before) this.before = before;
    this.last = this.before;
    this.lastText = JSON.stringify(this.before);
    const { continuedExecutionRunId } = started;
    if (continuedExecutionRunId) this.continues = { workflowId, runId: continuedExecutionRunId };
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

function startOf({ sole }: GroupMachine, isLater: boolean): string {
  if (sole && isLater) return 'It carried on in a new run.';
  if (sole)
    return sole.record.interventions?.[0]?.action === 'resend'
      ? 'Started again.'
      : 'Started as an execution of its own.';
  // Not with how many: some may be another account's.
  return isLater ? 'Its group carried on in a new run.' : 'Started in a group with other deliveries.';
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
function copyOf(record: DeliveryRecord | undefined): ShownRecord | undefined {
  return record && structuredClone(shownRecord(record));
}
