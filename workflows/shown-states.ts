import { setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { reasonOf } from '../src/domain/attempt/cause.js';
import type { GroupMachine, LiveGroup } from '../src/domain/delivery/delivery-group.js';
import { describeStates, statusesOf, summarizeMembers } from '../src/domain/delivery/group-summary.js';
import { executionStatus, STATUS_ATTRIBUTE } from '../src/domain/ledger/search-attributes.js';
import { closingOf } from '../src/domain/stats/closing.js';
import type { Timings } from '../src/domain/timings.js';
import { deliveries as sink } from './sinks.js';

/** States that an execution shows of its deliveries besides their rows: to people in Temporal UI, and to counts. */
export class ShownStates {
  private readonly input: LiveGroup;
  private readonly machine: GroupMachine;
  private readonly timings: Timings;
  /** Closed deliveries that have been counted: what earlier runs have closed, they have counted. */
  private readonly counted: Set<number>;
  private states: string;
  private status: string;
  private at: number;

  constructor(input: LiveGroup, machine: GroupMachine, timings: Timings) {
    this.input = input;
    this.machine = machine;
    this.timings = timings;
    this.counted = new Set(input.so_far ? machine.closed : []);
    this.states = input.so_far ? '' : '[]';
    this.status = workflowInfo().typedSearchAttributes.get(STATUS_ATTRIBUTE) ?? '';
    this.at = workflowInfo().startTime.getTime();
  }

  /** Tells the process which deliveries have been closed since the last time. */
  count(): void {
    const { events, deliveries } = this.input;
    const closings = this.machine.closed.flatMap((index) => {
      const delivery = deliveries[index];
      const event = delivery && events[delivery.event];
      const record = this.machine.member(index)?.record;
      if (this.counted.has(index) || !event || !record) return [];
      this.counted.add(index);
      return closingOf(event, delivery.endpoint_id, record) ?? [];
    });
    if (closings.length > 0) sink.closed(closings);
  }

  /**
   * Writes how the deliveries stand for people in Temporal UI: nothing, if the execution's own status says it.
   *
   * @param isDue it is shown at once; otherwise now and again
   */
  show(now: number, isDue: boolean): void {
    if (!isDue && now - this.at < this.timings.group_shown_ms) return;
    const { records, isOpen, sole } = this.machine;
    const summary = summarizeMembers(records, isOpen);
    const states = JSON.stringify(summary);
    if (states === this.states) return;
    setCurrentDetails(sole ? (reasonOf(records[0] ?? {}) ?? '') : describeStates(summary));
    const status = executionStatus(
      records.map((record) => record.status),
      statusesOf(summary),
    );
    if (status !== this.status) upsertSearchAttributes([{ key: STATUS_ATTRIBUTE, value: status }]);
    this.states = states;
    this.status = status;
    this.at = now;
  }
}
