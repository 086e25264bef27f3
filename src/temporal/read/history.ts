import type { Client } from '@temporalio/client';
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/index.js';
import proto, { type temporal } from '@temporalio/proto';
import type { Intervention } from '../../domain/delivery/delivery.js';

const { HistoryEventFilterType } = proto.temporal.api.enums.v1;

export type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type HistoryRequest = temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest;
type Payloads = temporal.api.common.v1.IPayload[] | null | undefined;

/** A run of an execution. */
export interface Run {
  workflowId: string;
  runId: string;
}

/** The input of an execution. */
export async function readInput(client: Client, run: Run): Promise<unknown> {
  const { history } = await historyPage(client, run, { maximumPageSize: 1 });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  return decodeFirst(client, started?.input?.payloads);
}

/** Which try of its workflow task an execution is in; 1 for the first, and if it is in none. */
export async function readTaskAttempt(client: Client, { workflowId, runId }: Run): Promise<number> {
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  return raw.pendingWorkflowTask?.attempt ?? 1;
}

/** Author of a termination, and its reason. */
interface Termination {
  intervention: Intervention;
  /** Human-readable: who, and the reason that they gave. */
  reason: string;
}

/** Termination that an event of a history tells; `undefined` if it is another event. */
export function terminationOf(event: HistoryEvent): Termination | undefined {
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (!terminated) return undefined;
  const by = terminated.identity || 'somebody';
  const why = terminated.reason ? `: ${terminated.reason}` : '';
  return {
    intervention: { action: 'terminate', at: isoTimeOf(event), by },
    reason: `Terminated in Temporal by ${by}${why}`.replace(/[^.]$/, '$&.'),
  };
}

/** The event that closed a run. */
export async function closingEvent(client: Client, run: Run): Promise<HistoryEvent | undefined> {
  const { history } = await historyPage(client, run, {
    maximumPageSize: 1,
    historyEventFilterType: HistoryEventFilterType.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT,
  });
  return history?.events?.[0];
}

/** The events of a run, in order. */
export async function* eventsOf(client: Client, run: Run): AsyncIterable<HistoryEvent> {
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await historyPage(client, run, { ...(nextPageToken && { nextPageToken }) });
    yield* page.history?.events ?? [];
    nextPageToken = page.nextPageToken?.length ? page.nextPageToken : undefined;
  } while (nextPageToken);
}

function historyPage(
  client: Client,
  { workflowId, runId }: Run,
  part: Pick<HistoryRequest, 'maximumPageSize' | 'historyEventFilterType' | 'nextPageToken'>,
): Promise<temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse> {
  const { namespace } = client.options;
  return client.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    ...part,
  });
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
  const [value] = (await decodeArrayFromPayloads(client.options.loadedDataConverter, payloads)) ?? [];
  return value;
}
