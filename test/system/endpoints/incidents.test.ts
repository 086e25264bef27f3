import assert from 'node:assert/strict';
import { emitTo } from '../../../activities/endpoint/endpoint-incident.js';
import { endpointDirectory } from '../../../src/bin/service/endpoint-ports.js';
import { createKnowledge, createStarter } from '../../../src/bin/service/ledger.js';
import { incidentWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { recordedTime } from '../../../src/domain/time/recorded-time.js';
import type { ApiClient } from '../../support/api-client.js';
import { eventTypes, executionOf, fetchHistory, untilHeard } from '../../support/history.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import {
  IMPATIENT,
  ONE_BY_ONE,
  type SharedSystem,
  sharedSystem,
  UNTIL_DISABLED,
} from '../../support/system.js';
import { until } from '../../support/until.js';

const KINDS = ['endpoint.failing', 'endpoint.recovered', 'endpoint.disabled'];

describe('incidents of endpoints', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let watcher: Receiver;
  let client: ApiClient;
  let endpointId: string;

  afterEach(async () => {
    await receiver.close();
    await watcher.close();
  });

  /** A system, an endpoint, and another that watches it. */
  async function start(settings: Record<string, string> = {}, more?: Record<string, unknown>): Promise<void> {
    receiver = await startReceiver({ handler: reply(500) });
    watcher = await startReceiver();
    system = await sharedSystem({ ...ONE_BY_ONE, ...settings });
    client = await system.account();
    endpointId = (await client.register(receiver.url, more)).id;
    await client.register(watcher.url, { event_kinds: KINDS });
    // Its filter holds for operational events as well, so it is sent none.
    const filter = { path: '/endpoint_id', equals: 'another' };
    await client.register(`${watcher.url}/filtered`, { event_kinds: KINDS, filter });
  }

  const send = async (): Promise<string> => {
    const [delivery] = (await client.purchase()).deliveries;
    assert.ok(delivery);
    return delivery.id;
  };
  const endpoint = async () => (await client.request('GET', `/v18.0/endpoints/${endpointId}`)).json;
  const told = () =>
    watcher.received.map(({ headers, body }) => ({
      kind: headers['webhook-event-kind'],
      ...JSON.parse(body.toString()),
    }));
  const incidentRuns = async () => {
    const query = `WorkflowId = '${incidentWorkflowId(client.accountId, endpointId)}'`;
    const runs = [];
    for await (const run of system.temporal.client.workflow.list({ query })) runs.push(run);
    return runs;
  };

  const signalledAt = async (workflowId: string): Promise<number> => {
    const { events } = await (await executionOf(system, workflowId)).fetchHistory();
    const signal = events?.find((event) => event.workflowExecutionSignaledEventAttributes);
    return Number(signal?.eventTime?.seconds) + (signal?.eventTime?.nanos ?? 0) / 1e9;
  };

  it('opens at the first failure, is shown, is announced once, and ends with a success', async () => {
    await start();
    const ids = [await send(), await send(), await send()];
    await watcher.waitFor((all) => all.length === 1);
    const [failing] = told();
    assert.equal(failing.kind, 'endpoint.failing');
    assert.equal(failing.endpoint_id, endpointId);
    assert.equal(failing.last_failure, 'got a 500 response');
    const { incident, ...shown } = await until(endpoint, (one) => one.incident !== undefined);
    assert.equal(shown.status, 'active');
    assert.equal(incident.since, failing.since);
    assert.ok(incident.failures >= 1);
    assert.equal(Date.parse(incident.disable_at) - Date.parse(incident.since), 5 * 86_400_000);

    const list = async (query: string, by = client) =>
      (await by.request('GET', `/v18.0/endpoints?${query}`)).json.data as { id: string; incident?: object }[];
    const rows = await until(
      () => list('health=failing'),
      (all) => all.length === 1,
    );
    assert.equal(rows[0]?.id, endpointId);
    assert.deepEqual(Object.keys(rows[0]?.incident ?? {}), Object.keys(incident));
    const all = await list('');
    assert.deepEqual(
      all.filter(({ incident }) => incident).map(({ id }) => id),
      [endpointId],
    );
    assert.equal((await list('health=healthy&status=active,paused')).length, 2);
    assert.deepEqual(await list('health=failing&status=paused,disabled'), []);
    assert.deepEqual(await list('health=failing', await system.account()), []);
    const refused = await client.request('GET', '/v18.0/endpoints?health=ill&status=gone');
    assert.match(refused.json.detail, /status must be one or more of: pending/);
    assert.match(refused.json.detail, /health must be one of: healthy, failing/);

    receiver.handle(reply(200));
    await client.request('POST', `/v18.0/deliveries/${ids[0]}/retry`);
    await watcher.waitFor((all) => all.length === 2);
    const [, recovered] = told();
    assert.equal(recovered.kind, 'endpoint.recovered');
    assert.equal(recovered.since, failing.since);
    await until(endpoint, (one) => one.incident === undefined);
    assert.equal(told().length, 2);
  });

  it('costs a healthy endpoint nothing', async () => {
    await start();
    receiver.handle(reply(200));
    const id = await send();
    const delivery = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    // Its row is there before its execution has ended.
    await untilHeard(system, delivery.workflow_id);
    assert.equal((await fetchHistory(system, delivery.workflow_id)).events?.length, 6);
    assert.deepEqual(await incidentRuns(), []);
  });

  it('has new deliveries wait when there are many failures, probes, and releases them oldest first [world]', async () => {
    await start({
      HOOKLINE_PROBE_INTERVAL: '3s',
      HOOKLINE_RELEASE_RATE: '10',
    });
    const waiting: string[] = [];
    await until(
      async () => {
        const id = await send();
        const { status, reason, workflow_id } = await client.deliveryUntil(
          id,
          (one) => one.status !== 'delivering',
        );
        if (status !== 'parked') return waiting.length;
        assert.match(reason ?? '', /^The endpoint is failing: since /);
        const types = eventTypes(await fetchHistory(system, workflow_id));
        // One that was accepted before the failures were known asks whether it may be attempted, or it has been a
        // probe.
        if (!types.includes('ACTIVITY_TASK_SCHEDULED')) waiting.push(id);
        return waiting.length;
      },
      (count) => count >= 4,
    );
    await until(endpoint, (one) => one.incident?.next_probe_at !== undefined);

    receiver.handle(reply(200));
    const delivered = await Promise.all(
      waiting.map((id) => client.deliveryUntil(id, ({ status }) => status === 'delivered')),
    );
    // Some were probes that found it failing still; they are released with the others, an hour before their schedule.
    for (const { attempts } of delivered) {
      const [last, ...before] = attempts.map(({ trigger }) => trigger).reverse();
      assert.match(last ?? '', /^(released|probe)$/);
      assert.ok(before.every((trigger) => trigger === 'probe'));
    }
    const releasedOnce = delivered.filter(({ attempts: [first] }) => first?.trigger === 'released');
    const woken = await Promise.all(releasedOnce.map(({ workflow_id }) => signalledAt(workflow_id)));
    // Those between them may be woken side by side, where the release comes late to them.
    assert.ok((woken[0] ?? 0) <= (woken.at(-1) ?? 0), woken.join());
    await until(told, (all) => all.some(({ kind }) => kind === 'endpoint.recovered'));
    assert.deepEqual(
      told().map(({ kind }) => kind),
      ['endpoint.failing', 'endpoint.recovered'],
    );
  });

  it('disables an endpoint that fails for too long, once, says why, and parks its deliveries [world]', async () => {
    await start(IMPATIENT, UNTIL_DISABLED);
    const id = await send();
    const parked = await client.deliveryUntil(id, ({ status }) => status === 'parked');
    assert.match(
      parked.reason ?? '',
      /It failed for 4s without a success; the last attempt got a 500 response\./,
    );
    assert.equal((await endpoint()).status, 'disabled');
    await until(told, (all) => all.some(({ kind }) => kind === 'endpoint.disabled'));
    // One whose failures come too far apart, on a slow machine, lapses; what fails next is another incident, announced
    // once as well.
    const runs = await until(
      incidentRuns,
      (all) => all.length > 0 && all.every(({ status }) => status.name === 'COMPLETED'),
    );
    assert.deepEqual(
      told().map(({ kind }) => kind),
      [...runs.map(() => 'endpoint.failing'), 'endpoint.disabled'],
    );
  });

  it('disables an endpoint at once that answers 410, and says so once [world]', async () => {
    await start();
    receiver.handle(reply(410));
    const ids = await Promise.all([send(), send(), send()]);
    await until(endpoint, ({ status }) => status === 'disabled');
    for (const id of ids) await client.deliveryUntil(id, ({ status }) => status === 'parked');
    await watcher.waitFor((all) => all.length === 1);
    await until(incidentRuns, (runs) => runs.every(({ status }) => status.name === 'COMPLETED'));
    assert.deepEqual(
      told().map(({ kind, reason }) => [kind, reason]),
      [['endpoint.disabled', 'It responded with 410 Gone.']],
    );
  });

  it('are told of in one delivery also if they are told of again, which began in a group [world]', async () => {
    [receiver, watcher] = await Promise.all([startReceiver(), startReceiver()]);
    const shared = await sharedSystem();
    const watching = await shared.account();
    await watching.register(watcher.url, { event_kinds: KINDS });
    const { settings, database } = shared;
    const ledger = createStarter(settings, shared, createKnowledge(settings, shared), undefined);
    const ports = { ledger, endpoints: endpointDirectory(database.endpoints) };
    const at = recordedTime(new Date());
    const tell = (transition: string) =>
      emitTo(ports, {
        account_id: watching.accountId,
        kind: 'endpoint.failing',
        at,
        transition,
        payload: { endpoint_id: 'ep_1' },
      });
    // While the first of them is started, the others wait and would make a group.
    await Promise.all(['first', 'second', 'third'].map(tell));
    await tell('second');
    const list = async () => (await watching.request('GET', '/v18.0/deliveries?open=false')).json.data;
    const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
    const rows = await until(list, (found) => new Set(ids(found)).size === 3);
    assert.equal(rows.length, 3, JSON.stringify(rows));
    assert.equal(watcher.received.length, 3);
  });

  it('does not count failures of operational events, and nobody can post one', async () => {
    await start();
    watcher.handle(reply(500));
    await send();
    await watcher.waitFor((all) => all.some(({ over }) => over));
    const answer = await client.request('POST', '/v18.0/events/endpoint.failing', { body: {} });
    assert.deepEqual([answer.status, answer.json.code], [404, 'unknown_event_kind']);
    const list = (await client.request('GET', '/v18.0/endpoints')).json.data;
    const watching = list.find(({ target_url }: { target_url: string }) => target_url === `${watcher.url}/`);
    const { incident } = (await client.request('GET', `/v18.0/endpoints/${watching.id}`)).json;
    assert.equal(incident, undefined);
  });
});
