import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { temporal } from '@temporalio/proto';

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Payloads = temporal.api.common.v1.IPayload[] | null | undefined;

/** The events of a run, in order. */
export async function* eventsOf(
  client: Client,
  { workflowId, runId }: { workflowId: string; runId: string },
): AsyncIterable<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page: temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse =
      await client.workflowService.getWorkflowExecutionHistory({
        namespace: client.options.namespace,
        execution: { workflowId, runId },
        ...(nextPageToken && { nextPageToken }),
      });
    yield* page.history?.events ?? [];
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
}

/** The id of the last event of a run so far. */
export async function lastEventId(
  client: Client,
  execution: { workflowId: string; runId: string },
): Promise<string | undefined> {
  const { history }: temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryReverseResponse =
    await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution,
      maximumPageSize: 1,
    });
  return history?.events?.[0]?.eventId?.toString();
}

/** When an event was recorded, milliseconds since the epoch. */
export function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1e6);
}

/** {@link timeOf} as the HTTP interface shows it. ISO 8601, UTC. */
export function isoTimeOf(event: HistoryEvent): string {
  return new Date(timeOf(event)).toISOString();
}

/** The first of some payloads; `undefined` if there is none. */
export async function decodeFirst(client: Client, payloads: Payloads): Promise<unknown> {
  const [value] = await decodeAll(client, payloads);
  return value;
}

export async function decodeAll(client: Client, payloads: Payloads): Promise<unknown[]> {
  return (await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads)) ?? [];
}
