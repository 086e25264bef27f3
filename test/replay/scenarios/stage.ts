import type { ApiClient } from '../../support/api-client.js';
import { workflowIdOf } from '../../support/history.js';
import { type Handler, type Receiver, reply } from '../../support/receiver.js';
import type { TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Where a scenario is played: a system, a client of it, and a receiver that answers 200. */
export interface Stage {
  system: TestSystem;
  client: ApiClient;
  receiver: Receiver;
}

/** An execution. */
export interface Run {
  workflowId: string;
  /** The latest run, where it is absent. */
  runId?: string;
}

/** One way through a workflow. It resolves once the execution has closed. */
export interface Scenario {
  settings?: Record<string, string>;
  /** Events after which Temporal suggests to continue in a new run; by default 4,096. */
  suggestAfter?: number;
  play(stage: Stage): Promise<Run>;
}

/** Scenarios by the names of the files that keep their histories. */
export type Scenarios = Record<string, Scenario>;

/** Words of somebody who asks for something: no history has them. */
export const REASON = 'because of a scenario';

/** A schedule whose first retry never comes by itself while a scenario is played. */
export const SLOW = { HOOKLINE_RETRY_SCHEDULE: '1h' };

export async function start(stage: Stage): Promise<string> {
  await stage.client.register(stage.receiver.url);
  return purchase(stage);
}

export async function purchase({ client }: Stage): Promise<string> {
  const event = await client.purchase();
  return event.deliveries[0]?.id ?? '';
}

export async function retrying(stage: Stage): Promise<string> {
  stage.receiver.handle(reply(500));
  const id = await start(stage);
  await stage.client.deliveryUntil(id, ({ status }) => status === 'retrying');
  return id;
}

/** Waits until a delivery is parked, and visibility knows it: what is released is found there. */
export async function untilParked({ client }: Stage, id: string): Promise<void> {
  await until(
    async () => (await client.request('GET', '/v18.0/deliveries?status=parked')).json.data,
    (parked) => parked.some((one: { id: string }) => one.id === id),
  );
}

export async function act({ client }: Stage, id: string, action: string): Promise<void> {
  const answer = await client.request('POST', `/v18.0/deliveries/${id}/${action}`);
  if (answer.status !== 200) throw new Error(`${action}: ${answer.text}`);
}

export function closed(stage: Stage, deliveryId: string): Promise<Run> {
  return execution(stage, workflowIdOf(stage.client, deliveryId));
}

/** The execution, once it has closed, however it did. */
export async function execution({ system }: Stage, workflowId: string): Promise<Run> {
  const handle = system.temporal.client.workflow.getHandle(workflowId);
  // It is started a moment after its event is accepted.
  await until(
    () => handle.describe().catch(() => undefined),
    (described) => described !== undefined,
  );
  await handle.result().catch(() => {});
  return { workflowId };
}

/** The first of the runs of an execution that continued in new ones, once the last has closed. */
export async function firstRun(stage: Stage, { workflowId }: Run): Promise<Run> {
  await execution(stage, workflowId);
  const { raw, runId } = await stage.system.temporal.client.workflow.getHandle(workflowId).describe();
  const first = raw.workflowExecutionInfo?.firstRunId;
  if (!first || first === runId) throw new Error(`${workflowId} did not continue in a new run`);
  return { workflowId, runId: first };
}

/** Replaces an endpoint by one at the receiver that is active, unless `more` says otherwise. */
export async function replaceEndpoint(
  { client, receiver }: Stage,
  endpointId: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const body = { target_url: receiver.url, event_kinds: ['purchase'], ...more };
  const answer = await client.request('PUT', `/v18.0/endpoints/${endpointId}`, { body });
  if (answer.status !== 200) throw new Error(`PUT: ${answer.text}`);
}

/** Answers a challenge as a subscriber should, and everything else with 200. */
export const answerChallenge: Handler = (_request, response, body) => {
  response.writeHead(200).end(JSON.parse(String(body)).challenge ?? '');
};
