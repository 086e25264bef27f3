import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto, { type temporal } from '@temporalio/proto';
import type { AcceptedEvent, DeliveryRecord } from '../domain/delivery.js';

const { HistoryEventFilterType } = proto.temporal.api.enums.v1;

interface Execution {
  workflowId: string;
  runId?: string;
}

/** The event that an execution was started with. */
export async function readStartedEvent(client: Client, execution: Execution): Promise<AcceptedEvent> {
  const event = await oneEvent(client, execution, HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT);
  const payloads = event?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return input as AcceptedEvent;
}

/** The record with which a delivery closed: its result, or its failure's details. `undefined` where it left none. */
export async function readClosingRecord(
  client: Client,
  execution: Execution,
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
    return result as DeliveryRecord;
  }
  const failure = await decodeOptionalFailureToOptionalError(
    converter,
    event?.workflowExecutionFailedEventAttributes?.failure,
  );
  return failure instanceof ApplicationFailure
    ? (failure.details?.[0] as DeliveryRecord | undefined)
    : undefined;
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
