import assert from 'node:assert/strict';
import { createdAt } from '../../../src/domain/basics/id-time.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { type Accepted, type ApiClient, PURCHASE } from '../../support/api-client.js';
import { executionOf, untilAtRest, untilHeard } from '../../support/history.js';
import { recordedTerminations } from '../../support/parts/records.js';
import { inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, UNHURRIED } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Deliveries of one event to so many endpoints are a group. */
const IN_GROUP = 12;

describe('the timeline of a delivery', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem(UNHURRIED);
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    client = await system.account();
  });
  afterEach(() => receiver.close());

  const timeline = async (id: string): Promise<TimelineItem[]> => {
    const { status, json, text } = await client.request('GET', `/v18.0/deliveries/${id}/timeline`);
    assert.equal(status, 200, text);
    return json.data;
  };
  const act = async (id: string, action: string) => {
    const { status, text } = await client.request('POST', `/v18.0/deliveries/${id}/${action}`);
    assert.ok(status < 300, text);
  };
  const firstOf = ({ deliveries }: Accepted) => deliveries[0]?.id ?? '';
  /** Terminates the execution of a delivery in Temporal, and waits until its row says it. */
  async function terminate(id: string): Promise<void> {
    const { workflow_id } = await client.delivery(id);
    await (await executionOf(system, workflow_id)).terminate('a test ends it');
    await recordedTerminations(system, client, [id]);
  }

  /** Its types, and that it is in order. */
  function typesOf(items: readonly TimelineItem[]): string {
    const times = items.map(({ at }) => at);
    assert.deepEqual(times, [...times].sort());
    for (const { text } of items) assert.match(text, /^[A-Z].*\.$/s);
    return items
      .filter(({ type }) => type !== 'incident')
      .map(({ type, action, status }) => action ?? status ?? type)
      .join(' ');
  }

  /** One event to a dozen endpoints, the first of which is failing or paused. */
  async function group(
    status: 'active' | 'paused',
  ): Promise<{ id: string; endpointId: string; event: Accepted }> {
    const [endpoint] = await Promise.all([
      client.register(`${receiver.url}/first`, { status }),
      ...Array.from({ length: IN_GROUP - 1 }, () => client.register(receiver.url)),
    ]);
    const event = await client.purchase();
    const { data } = await until(
      async () =>
        (await client.request('GET', `/v18.0/deliveries?event_id=${event.id}&endpoint_id=${endpoint?.id}`))
          .json,
      ({ data }) => data[0]?.status === (status === 'paused' ? 'parked' : 'retrying'),
    );
    return { id: data[0].id, endpointId: endpoint?.id ?? '', event };
  }

  it('tells acceptance, attempts, waits, acts and the end, in each run, as JSON and as lines', async () => {
    receiver.handle(inTurn(reply(503), reply(500), reply(200)));
    await client.register(`${receiver.url}/hook`);
    const event = await client.purchase();
    const id = firstOf(event);
    await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    await act(id, 'pause');
    await act(id, 'resume');
    await act(id, 'retry');
    const { workflow_id } = await client.deliveryUntil(id, ({ attempts }) => attempts.length === 2);
    await untilAtRest(system, workflow_id);
    await act(id, 'cancel');
    await client.deliveryUntil(id, ({ status }) => status === 'cancelled');
    await untilHeard(system, workflow_id);
    await act(id, 'resend');
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    const endsIncident = ({ text }: TimelineItem) =>
      text === 'The endpoint responded again: its incident ended.';
    const read = await until(
      () => timeline(id),
      (found) => found.some(endsIncident),
    );
    assert.deepEqual(
      read.flatMap(({ type, text }) => (type === 'incident' ? [text] : [])),
      [
        'The endpoint began to fail: an incident opened.',
        'The endpoint responded again: its incident ended.',
      ],
    );
    const items = read.filter(({ type }) => type !== 'incident');
    assert.equal(
      typesOf(items),
      'accepted started attempt wait pause resume wait retry attempt wait cancel cancelled resend started attempt delivered',
    );
    assert.equal(items[0]?.at, createdAt(event.id));
    assert.equal(items[0]?.text, `Accepted: a purchase of ${PURCHASE.length} bytes, as ${event.id}.`);
    assert.match(items[2]?.text ?? '', /^Attempt 1 got a 503 response, after \d+ ms\.$/);
    assert.equal(items[2]?.url, `${receiver.url}/hook`);
    assert.equal(items[4]?.by, client.keyId);
    assert.match(items[8]?.text ?? '', /^Attempt 2 \(on request\) got a 500 response/);
    const lines = await client.request('GET', `/v18.0/deliveries/${id}/timeline`, {
      headers: { accept: 'text/plain' },
    });
    assert.match(lines.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(lines.text.split('\n').length, read.length + 1);
    for (const { at, text } of items) assert.ok(lines.text.includes(`${at}  `) && lines.text.includes(text));
  });

  it('tells the same of a delivery in a group, also of what is done to it there [world]', async () => {
    receiver.handle((request, ...rest) => reply(request.url === '/first' ? 503 : 200)(request, ...rest));
    const { id, event } = await group('active');
    assert.equal(typesOf(await timeline(id)), 'accepted started attempt wait');
    const started = (await timeline(id))[1];
    assert.equal(started?.text, 'Started in a group with other deliveries.');
    await act(id, 'retry');
    await client.deliveryUntil(id, ({ attempts }) => attempts.length === 2);
    const all = 'accepted started attempt wait retry attempt wait';
    assert.equal(typesOf(await timeline(id)), all);
    const { data } = (await client.request('GET', `/v18.0/deliveries?event_id=${event.id}&status=delivered`))
      .json;
    assert.equal(typesOf(await timeline(data[0].id)), 'accepted started attempt delivered');
  });

  it('tells parking and release, by itself and in a group [world]', async () => {
    const alone = await client.register(receiver.url, { status: 'paused' });
    const single = firstOf(await client.purchase());
    await client.deliveryUntil(single, ({ status }) => status === 'parked');
    assert.equal((await client.request('POST', `/v18.0/endpoints/${alone.id}/resume`)).status, 200);
    await client.deliveryUntil(single, ({ status }) => status === 'delivered');
    const told = 'accepted started parked released attempt delivered';
    assert.equal(typesOf(await timeline(single)), told);

    client = await system.account();
    const { id, endpointId } = await group('paused');
    assert.equal((await client.request('POST', `/v18.0/endpoints/${endpointId}/resume`)).status, 200);
    await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    assert.equal(typesOf(await timeline(id)), told);
  });

  it('tells a termination and a reset in Temporal [world]', async () => {
    receiver.handle(reply(503));
    await client.register(receiver.url);
    const id = firstOf(await client.purchase());
    const { workflow_id, run_id } = await client.deliveryUntil(id, ({ status }) => status === 'retrying');
    const temporal = system.temporal.client;
    // The row is ahead of the first workflow task, to which it is reset.
    await untilHeard(system, workflow_id);
    await temporal.workflowService.resetWorkflowExecution({
      namespace: temporal.options.namespace,
      workflowExecution: { workflowId: workflow_id, runId: run_id },
      reason: 'tried again by hand',
      workflowTaskFinishEventId: 4 as never,
      requestId: id,
    });
    await client.deliveryUntil(id, (one) => one.run_id !== run_id && one.status === 'retrying');
    assert.equal(typesOf(await timeline(id)), 'accepted started attempt wait reset attempt wait');
    await terminate(id);
    const items = await timeline(id);
    assert.equal(typesOf(items), 'accepted started attempt wait reset attempt wait terminated');
    assert.equal(items.at(-1)?.by, temporal.options.identity);

    client = await system.account();
    receiver.handle((request, ...rest) => reply(request.url === '/first' ? 503 : 200)(request, ...rest));
    const member = await group('active');
    await terminate(member.id);
    assert.equal(typesOf(await timeline(member.id)), 'accepted started attempt wait terminated');
  });

  it('is not shown to another account, nor for a delivery that does not exist', async () => {
    await client.register(receiver.url);
    const id = firstOf(await client.purchase());
    const other = await system.account();
    assert.equal((await other.request('GET', `/v18.0/deliveries/${id}/timeline`)).status, 404);
    assert.equal((await client.request('GET', '/v18.0/deliveries/dlv_x/timeline')).status, 404);
  });
});
