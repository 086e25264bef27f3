import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto, { type temporal } from '@temporalio/proto';
import type { DeliverTogetherResult } from '../../../workflows/inputs.js';
import {
  type AcceptedEvent,
  type DeliveryGroup,
  type DeliveryRecord,
  type Intervention,
  pickEvent,
} from '../../domain/delivery/delivery.js';

const { HistoryEventFilterType } = proto.temporal.api.enums.v1;

interface Execution {
  workflowId: string;
  runId?: string;
}

/** What an execution was started with, for one of its events. */
export interface Started {
  event: AcceptedEvent;
  /** Who sent the delivery again, if this run is that. */
  resent: Intervention | undefined;
}

/** An event from the input of an execution; `undefined` if the input does not contain it. */
export async function readStartedEvent(
  client: Client,
  execution: Execution,
  eventId: string,
): Promise<AcceptedEvent | undefined> {
  return (await readStarted(client, execution, eventId))?.event;
}

/** What an execution was started with; `undefined` if that does not contain the event. */
export async function readStarted(
  client: Client,
  execution: Execution,
  eventId: string,
): Promise<Started | undefined> {
  return startedIn(await readInput(client, execution), eventId);
}

/** What an input of an execution says of an event; `undefined` if it does not contain the event. */
export function startedIn(input: unknown, eventId: string): Started | undefined {
  const events = isGroup(input) ? input.events : [input as AcceptedEvent];
  const found = events.find(({ event_id }) => event_id === eventId);
  const { resent } = input as { resent?: Intervention };
  return found && { event: pickEvent(found), resent };
}

/** The input of an execution. */
export async function readInput(client: Client, execution: Execution): Promise<unknown> {
  const event = await oneEvent(client, execution, HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT);
  const payloads = event?.workflowExecutionStartedEventAttributes?.input?.payloads;
  const [input] = await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads);
  return input;
}

/**
 * The record with which a delivery closed: the workflow's result, or its failure's details. `undefined` if it has neither, or if the
 * result leaves the record to the history.
 *
 * @param index of the delivery, if the execution is a group
 */
export async function readClosingRecord(
  client: Client,
  execution: Execution,
  index: number | undefined,
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
    if (index === undefined) return result as DeliveryRecord;
    return recordsIn(result as DeliverTogetherResult)?.[index] ?? undefined;
  }
  const failed = event?.workflowExecutionFailedEventAttributes;
  const failure = await decodeOptionalFailureToOptionalError(converter, failed?.failure);
  return failure instanceof ApplicationFailure
    ? (failure.details?.[0] as DeliveryRecord | undefined)
    : undefined;
}

/** The records in the result of a group; `undefined` if the result leaves them to the history. */
export async function readGroupResult(
  client: Client,
  execution: Execution,
): Promise<(DeliveryRecord | null)[] | undefined> {
  const event = await oneEvent(
    client,
    execution,
    HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  );
  const { result } = event?.workflowExecutionCompletedEventAttributes ?? {};
  const [group] = await decodeArrayFromPayloads(client.options.loadedDataConverter, result?.payloads);
  return recordsIn(group as DeliverTogetherResult);
}

function recordsIn(result: DeliverTogetherResult): (DeliveryRecord | null)[] | undefined {
  return 'deliveries' in result ? result.deliveries : undefined;
}

function isGroup(input: unknown): input is DeliveryGroup {
  return typeof input === 'object' && input !== null && 'events' in input;
}

/** The first event of a run, or the one that closed it. */
export async function oneEvent(
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
