import type { Client } from '@temporalio/client';
import proto, { type temporal } from '@temporalio/proto';
import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import { eventsOf, type HistoryEvent } from '../history.js';

type Request = temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest;
type Response = temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryResponse;

const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT } = proto.temporal.api.enums.v1.HistoryEventFilterType;

/**
 * A client that reads each history once and whole, whatever is asked of it: its first event, the one that closed it, or
 * all. Everything that is archived of an execution costs one read that way. It is for one execution, so that nothing is
 * kept for long.
 */
export function withWholeHistories(client: Client): Client {
  const histories = new Map<string, Promise<HistoryEvent[]>>();
  const { workflowService } = client;
  const getWorkflowExecutionHistory = async (request: Request): Promise<Response> => {
    const { workflowId, runId } = request.execution ?? {};
    if (!workflowId || !runId) return workflowService.getWorkflowExecutionHistory(request);
    const events = await madeOnce(histories, runId, () => collect(eventsOf(client, { workflowId, runId })));
    const isClose = request.historyEventFilterType === HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT;
    return { history: { events: isClose ? events.slice(-1) : events } };
  };
  const service = new Proxy(workflowService, {
    get: (target, name) =>
      name === 'getWorkflowExecutionHistory' ? getWorkflowExecutionHistory : Reflect.get(target, name),
  });
  return Object.create(client, { workflowService: { get: () => service } }) as Client;
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
