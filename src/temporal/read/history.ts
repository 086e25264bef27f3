import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto, { type temporal } from '@temporalio/proto';
import type { DeliverGroupResult } from '../../../workflows/inputs.js';
import type { AcceptedEvent, DeliveryGroup, DeliveryRecord } from '../../domain/delivery/delivery.js';

const { HistoryEventFilterType } = proto.temporal.api.enums.v1;

interface Execution {
  workflowId: string;
  runId?: string;
}

/** An event that an execution was started with; `undefined` where it was started with another. */
export async function readStartedEvent(
  client: Client,
  execution: Execution,
  eventId: string,
): Promise<AcceptedEvent | undefined> {
  const input = await readInput(client, execution);
  const events = isGroup(input) ? input.events : [input as AcceptedEvent];
  return events.find(({ event_id }) => event_id === eventId);
}

/** What an execution was started with. */
export async function readInput(client: Client, execution: Execution): Promise<unknown> {
  const event = await oneEvent(client, execution, HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT);
  const payloads = event?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return input;
}

/**
 * The record with which a delivery closed: the workflow's result, or its failure's details. `undefined` where it left none.
 *
 * @param place the delivery's place, where the execution is a group
 */
export async function readClosingRecord(
  client: Client,
  execution: Execution,
  place: number | undefined,
): Promise<DeliveryRecord | undefined> {
  const event = await oneEvent(
    client,
    execution,
    HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  );
  const converter = client.options.loadedDataConverter;
  const completed = event?.workflowExecutionCompletedEventAttributes;
  if (completed) {
    const [result] = await decodeArrayFromPayloads(converter, completed.result?.payloads);
    if (place === undefined) return result as DeliveryRecord;
    return (result as DeliverGroupResult).deliveries[place] ?? undefined;
  }
  const failed = event?.workflowExecutionFailedEventAttributes;
  const failure = await decodeOptionalFailureToOptionalError(converter, failed?.failure);
  return failure instanceof ApplicationFailure
    ? (failure.details?.[0] as DeliveryRecord | undefined)
    : undefined;
}

function isGroup(input: unknown): input is DeliveryGroup {
  return typeof input === 'object' && input !== null && 'events' in input;
}

async function oneEvent(
  client: Client,
  execution: Execution,
  historyEventFilterType: temporal.api.enums.v1.HistoryEventFilterType,
): Promise<temporal.api.history.v1.IHistoryEvent | undefined> {
  const response: temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse =
    await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId: execution.workflowId, runId: execution.runId ?? '' },
      maximumPageSize: 1,
      historyEventFilterType,
    });
  return response.history?.events?.[0];
}
