import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeOptionalFailureToOptionalError,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto, { type temporal } from '@temporalio/proto';
import type { DeliverResult } from '../../../workflows/inputs.js';
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
  // Of a fan-out the input is the event itself.
  const { events = [input as AcceptedEvent] } = input as Partial<DeliveryGroup>;
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

/** Which try of its workflow task an execution is in; 1 for the first, and if it is in none. */
export async function readTaskAttempt(client: Client, { workflowId, runId }: Execution): Promise<number> {
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  return raw.pendingWorkflowTask?.attempt ?? 1;
}

/**
 * The records with which the deliveries of an execution closed: in its result, or in its failure's details. `undefined` if it has neither, or
 * if the result leaves them to the history.
 */
export async function readClosingRecords(
  client: Client,
  execution: Execution,
): Promise<DeliveryRecord[] | undefined> {
  const event = await oneEvent(
    client,
    execution,
    HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  );
  return event && (await resultIn(client, event))?.deliveries;
}

async function resultIn(
  client: Client,
  event: temporal.api.history.v1.IHistoryEvent,
): Promise<DeliverResult | undefined> {
  const converter = client.options.loadedDataConverter;
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) {
    const [result] = await decodeArrayFromPayloads(converter, completed.result?.payloads);
    return result as DeliverResult;
  }
  const failed = event.workflowExecutionFailedEventAttributes;
  const failure = await decodeOptionalFailureToOptionalError(converter, failed?.failure);
  return failure instanceof ApplicationFailure
    ? (failure.details?.[0] as DeliverResult | undefined)
    : undefined;
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
