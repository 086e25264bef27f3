import type { fanOutEvent } from '../../../workflows/index.js';
import type { AcceptedEvent, DeliveryTarget } from '../../domain/delivery/delivery.js';
import { ledgerAttributes } from '../../domain/ledger/search-attributes.js';
import { fanOutSummary } from '../../domain/ledger/summaries.js';
import { fanOutWorkflowId } from '../../domain/ledger/workflow-ids.js';
import { encodedBytes } from '../../domain/text/encoded-bytes.js';
import { startedNow } from '../errors.js';
import type { FanOutMemo } from '../read/event-view.js';
import type { StartCallOptions } from './start-calls.js';

/**
 * The most bytes of targets in a fan-out's input, about 20,000 targets: with the payload, which takes up to twice its
 * 256 KiB in it, it stays below Temporal's 2 MiB.
 */
const MAX_FAN_OUT_BYTES = 1024 * 1024;

/**
 * Starts workflows that start the deliveries of an event: one for each part of its targets, and one if there are no
 * targets.
 */
export async function startFanOut(
  { client, taskQueue, settings, earlyAttempts }: StartCallOptions,
  event: AcceptedEvent,
  targets: readonly DeliveryTarget[],
): Promise<void> {
  const { account_id, event_id, event_kind, keys = [], sequence } = event;
  const parts = splitBySize(targets, MAX_FAN_OUT_BYTES);
  let offset = 0;
  for (const [part, some] of parts.entries()) {
    await startedNow(
      client.workflow.start<typeof fanOutEvent>('fanOutEvent', {
        workflowId: fanOutWorkflowId(account_id, event_id, part),
        taskQueue,
        args: [{ ...event, targets: some, ...(offset > 0 && { offset }), ...settings }],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowIdConflictPolicy: 'USE_EXISTING',
        requestEagerStart: earlyAttempts !== undefined,
        staticSummary: fanOutSummary(event_kind, targets.length),
        memo: {
          fan_out: { started: 0, total: some.length },
          executions: parts.length,
          ...(sequence !== undefined && { sequence }),
        } satisfies FanOutMemo,
        typedSearchAttributes: ledgerAttributes({
          accounts: [account_id, ...keys],
          events: [event_id],
          kind: event_kind,
          isHead: part === 0,
        }),
      }),
    );
    offset += some.length;
  }
}

/** Targets in parts that take no more bytes than a limit each; one empty part if there are none. */
function splitBySize(targets: readonly DeliveryTarget[], limit: number): DeliveryTarget[][] {
  const parts: DeliveryTarget[][] = [[]];
  let size = 0;
  for (const target of targets) {
    const added = encodedBytes(target) + 1;
    if (size + added > limit) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(target);
    size += added;
  }
  return parts;
}
