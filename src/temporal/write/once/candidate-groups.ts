import type { Client } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import type { fence } from '../../../../workflows/index.js';
import { inParts, madeOnce, roomFor } from '../../../domain/basics/bounded-memory.js';
import { deliveryId } from '../../../domain/basics/delivery-id.js';
import { type GroupRange, groupsOf } from '../../../domain/ledger/group-series.js';
import { groupWorkflowId } from '../../../domain/ledger/workflow-ids.js';
import { startedNow } from '../../errors.js';
import { membersOf } from '../../read/group/group-memo.js';
import { describeExecution, type Execution } from '../../read/visibility/visibility.js';

/** Groups that are asked at once. */
const ASKED_AT_ONCE = 8;

/**
 * Finds out which deliveries a process has started in groups, and keeps it from starting more of them there: it may be
 * dead, or only slow, and its start call may still be on its way. Temporal refuses a second execution with the same id,
 * so a group that does not exist is made impossible by a {@link fence} under its id. What is known after that stays
 * true.
 */
export class CandidateGroups {
  private readonly client: Client;
  private readonly taskQueue: string;
  /** The deliveries of groups, which never change. After a crash many repeats ask for the same ones. */
  private readonly remembered = new LRUCache<string, Promise<readonly string[]>>(roomFor(500));

  constructor({ client, taskQueue }: { client: Client; taskQueue: string }) {
    this.client = client;
    this.taskQueue = taskQueue;
  }

  /**
   * In which of some groups deliveries are, by the delivery's id: the group's workflow id. None comes into them from
   * now on.
   */
  async settle(range: GroupRange): Promise<Map<string, string>> {
    const ids = groupsOf(range).map(groupWorkflowId);
    const found = new Map<string, string>();
    for (const some of inParts(ids, ASKED_AT_ONCE)) {
      const members = await Promise.all(some.map((id) => this.membersIn(id)));
      for (const [index, id] of some.entries())
        for (const delivery of members[index] ?? []) found.set(delivery, id);
    }
    return found;
  }

  private membersIn(workflowId: string): Promise<readonly string[]> {
    return madeOnce(this.remembered, workflowId, () => this.settleOne(workflowId));
  }

  private async settleOne(workflowId: string): Promise<readonly string[]> {
    for (;;) {
      const execution = await describeExecution(this.client, workflowId);
      if (execution) return deliveriesIn(execution);
      const start = this.client.workflow.start<typeof fence>('fence', {
        workflowId,
        taskQueue: this.taskQueue,
        args: [],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: 'no group may be started under this id',
      });
      // If not, the group has been started in between, or somebody else's fence.
      if (await startedNow(start)) return [];
    }
  }
}

/** The ids of the deliveries that a group was started with; none are in a fence. */
export function deliveriesIn(execution: Execution): string[] {
  return membersOf(execution).flatMap((member) => (member ? [deliveryId(member)] : []));
}
