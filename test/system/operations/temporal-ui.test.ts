import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { defaultPayloadConverter } from '@temporalio/common';
import { newId } from '../../../src/domain/basics/ids.js';
import {
  groupWorkflowId,
  incidentWorkflowId,
  releaseWorkflowId,
  rotationWorkflowId,
} from '../../../src/domain/ledger/workflow-ids.js';
import { startFanOut } from '../../../src/temporal/write/fan-out.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { eventTypes, executionOf, fetchHistory, untilAtRest, workflowIdOf } from '../../support/history.js';
import { startGroup } from '../../support/parts/start-group.js';
import { runHookline } from '../../support/programs/process.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { ONE_BY_ONE, type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A part of an endpoint's URL that must not be shown. */
const SECRET = 'q-3f1c9a';

describe('what Temporal UI shows [world]', () => {
  let system: SharedSystem;
  let client: ApiClient;
  let good: Receiver;
  let bad: Receiver;
  /** Ids by their prefixes, as the example queries name them. */
  let ids: { acct: string; dlv: string; ep: string; evt: string };
  let failing: string;
  let delivered: string;
  let groupId: string;
  let resumed: string;

  const summaryOf = async (workflowId: string) => {
    const execution = await (await executionOf(system, workflowId)).describe();
    return { summary: await execution.staticSummary(), details: await execution.staticDetails() };
  };

  before(async () => {
    system = await sharedSystem(ONE_BY_ONE);
    client = await system.account();
    [good, bad] = await Promise.all([startReceiver(), startReceiver({ handler: reply(500) })]);
    const some = (order: string) => ({ filter: { path: '/order_id', equals: order } });
    const at = ({ url }: Receiver) => `${url}/hooks?token=${SECRET}`;
    const [ok, retrying, exhausted, paused] = await Promise.all([
      client.register(at(good), some('delivered')),
      client.register(at(bad), some('retrying')),
      client.register(at(bad), { ...some('exhausted'), retry_schedule: ['100ms'] }),
      client.register(at(good), some('parked')),
    ]);
    await client.request('POST', `/v18.0/endpoints/${paused.id}/pause`);
    await client.request('POST', `/v18.0/endpoints/${ok.id}/secret/rotate`, { body: {} });
    const post = async (order_id: string) =>
      client.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), order_id }));
    const statusOf = async (order: string, status: string) => {
      const [delivery] = (await post(order)).deliveries;
      await client.deliveryUntil(delivery?.id ?? '', (one) => one.status === status);
      return delivery?.id ?? '';
    };
    delivered = await statusOf('delivered', 'delivered');
    failing = await statusOf('retrying', 'retrying');
    await statusOf('exhausted', 'exhausted');
    const parked = await statusOf('parked', 'parked');
    const cancelled = await statusOf('retrying', 'retrying');
    await untilAtRest(system, workflowIdOf(client, cancelled));
    await client.request('POST', `/v18.0/deliveries/${cancelled}/cancel`);
    // An event to so many endpoints would cost a minute: the execution that starts its deliveries is enough.
    const taskQueue = system.settings.HOOKLINE_TASK_QUEUE;
    const options = { client: system.temporal.client, taskQueue, earlyAttempts: undefined };
    const many = {
      account_id: client.accountId,
      event_id: newId('event'),
      event_kind: 'purchase',
      accepted_at: '',
    };
    await startFanOut(options, many, 0);
    await client.request('POST', '/v18.0/scheduled_events/purchase', {
      body: JSON.parse(PURCHASE),
      headers: { 'hookline-deliver-at': new Date(Date.now() + 86_400_000).toISOString() },
    });
    const body = { action: 'resend', mode: 'failed', filter: { endpoint_id: retrying.id } };
    await client.request('POST', '/v18.0/replays', { body });
    ({ groupId } = await startGroup(system, client, retrying.id, [Date.now(), Date.now()]));
    const { endpoint_id: ep, event_id: evt } = await client.delivery(parked);
    ids = { acct: client.accountId, dlv: parked, ep, evt };
    for (const act of ['pause', 'resume'])
      await client.request('POST', `/v18.0/endpoints/${exhausted.id}/${act}`);
    resumed = exhausted.id;
    // So that something else than deliveries happens to it.
    await client.request('POST', `/v18.0/endpoints/${paused.id}/secret/rotate`, { body: {} });
  });
  after(async () => {
    await Promise.all([good.close(), bad.close()]);
  });

  it('says of each delivery what goes where, and what the API calls it', async () => {
    const host = new URL(good.url).host;
    deepEqual(await summaryOf(workflowIdOf(client, delivered)), {
      summary: `purchase → ${host}`,
      details: delivered,
    });
    const { summary } = await summaryOf(groupWorkflowId(groupId));
    match(summary ?? '', /^2 × purchase → ep_/);
  });

  it('says of everything else which endpoint it is about', async () => {
    const { endpoint_id } = await client.delivery(failing);
    const account_id = client.accountId;
    const incident = await until(
      () => summaryOf(incidentWorkflowId(account_id, endpoint_id)).catch(() => undefined),
      (found) => found !== undefined,
    );
    equal(incident?.summary, `incident of ${new URL(bad.url).host}`);
    equal(
      (await summaryOf(rotationWorkflowId(account_id, ids.ep))).summary,
      `secret rotation of ${new URL(good.url).host}`,
    );
    equal(
      (await summaryOf(releaseWorkflowId(account_id, resumed))).summary,
      `release of ${new URL(bad.url).host}`,
    );
  });

  it('says of an attempt which one it is, and of a wait what for', async () => {
    await client.request('POST', `/v18.0/deliveries/${failing}/retry`);
    await client.deliveryUntil(failing, ({ attempts }) => attempts.length === 2);
    const history = await fetchHistory(system, workflowIdOf(client, failing));
    const types = eventTypes(history);
    const summaries = (type: string) =>
      (history.events ?? []).flatMap(({ userMetadata }, index) =>
        types[index] === type && userMetadata?.summary
          ? [defaultPayloadConverter.fromPayload<string>(userMetadata.summary as never)]
          : [],
      );
    deepEqual(summaries('ACTIVITY_TASK_SCHEDULED'), ['attempt 2']);
    match(summaries('TIMER_STARTED')[0] ?? '', /500/);
  });

  it('shows nothing of a URL but its host', async () => {
    for await (const { workflowId } of system.temporal.client.workflow.list({
      query: `HooklineAccount = '${client.accountId}'`,
    })) {
      const shown = JSON.stringify(await summaryOf(workflowId));
      ok(!shown.includes(SECRET) && !shown.includes('/hooks'), shown);
    }
  });

  describe('each query of docs/temporal-ui.md', () => {
    const table = readFileSync('docs/temporal-ui.md', 'utf8').matchAll(/^\| (.*\?) \| `(.*)` \|$/gm);
    const queries = [...table].map(([, question = '', query = '']) => ({ question, query }));

    it('is there', () => ok(queries.length > 10));

    for (const { question, query } of queries) {
      it(`answers: ${question}`, async () => {
        const now = new Date(Date.now() + 60_000).toISOString();
        const ours = query
          .replace(/'(acct|dlv|ep|evt)_\w+'/g, (_, prefix: keyof typeof ids) => `'${ids[prefix]}'`)
          .replace(/< '[^']+'/, `< '${now}'`);
        // Only what was made here.
        const narrowed = `(${ours}) AND TaskQueue = '${system.settings.HOOKLINE_TASK_QUEUE}'`;
        // What is over in a moment is only asked for.
        const least = question.includes('being') ? 0 : 1;
        await until(
          () => system.temporal.client.workflow.count(narrowed),
          ({ count }) => count >= least,
        );
      });
    }
  });

  it('is shown by `hookline temporal` as it is', async () => {
    const args = [
      'workflow',
      'describe',
      '--workflow-id',
      workflowIdOf(client, delivered),
      '--output',
      'json',
    ];
    const described = await runHookline('temporal', system.environment, args);
    ok(described.includes(`purchase → ${new URL(good.url).host}`), described);
  });

  it('is what `hookline temporal` asks, on the server and namespace of the settings', async () => {
    const query = `HooklineEvent = '${ids.evt}'`;
    const listed = await runHookline('temporal', system.environment, [
      'workflow',
      'list',
      '--query',
      query,
      '--output',
      'json',
    ]);
    const [execution] = JSON.parse(listed) as { execution: { workflowId: string } }[];
    ok(execution?.execution.workflowId.startsWith(ids.dlv), listed);
  });
});
