import assert from 'node:assert/strict';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { deliveryId, parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import type { Delivery } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { executionOf, fetchHistory, untilAtRest, untilHeard } from '../../support/history.js';
import { readAll } from '../../support/parts/pages.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Handler, inTurn, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

describe('control of a delivery', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem();
    receiver = await startReceiver();
  });
  after(() => receiver.close());
  beforeEach(async () => {
    client = await system.account();
  });

  const act = (id: string, action: string) => client.request('POST', `/v18.0/deliveries/${id}/${action}`);
  const received = (delivery: Delivery) =>
    receiver.received.filter((one) => one.headers['webhook-id'] === delivery.event_id);

  /** A delivery whose first attempt was answered by the first handler, and that waits. */
  async function waiting(...handlers: [Handler, ...Handler[]]): Promise<Delivery> {
    receiver.handle(inTurn(...handlers));
    const { id } = await send();
    return client.deliveryUntil(id, ({ status }) => status === 'retrying');
  }

  async function send(): Promise<{ id: string }> {
    await client.register(receiver.url);
    const [delivery] = (await client.purchase()).deliveries;
    assert.ok(delivery);
    return delivery;
  }

  it('says what happened to a waiting delivery, when the next attempt comes, and why', async () => {
    const delivery = await waiting(reply(503, { 'retry-after': '7200' }));
    assert.equal(delivery.attempts.length, 1);
    assert.equal(delivery.attempts[0]?.status_code, 503);
    assert.match(delivery.next_attempt_at ?? '', /^\d{4}-.*Z$/);
    assert.equal(
      delivery.reason,
      `Attempt 1 got a 503 response. Next attempt at ${delivery.next_attempt_at}, as its Retry-After asked.`,
    );
    const timers = await timersOf(system, delivery);
    const [timer] = timers;
    assert.ok(timer);
    assert.equal(timer.summary, 'attempt 1 got a 503 response');
    const late = timer.firesAt - Date.parse(delivery.next_attempt_at ?? '');
    assert.ok(late >= 0 && late < 60_000, `the timer fires ${late} ms after the promised time`);
  });

  it('makes one attempt of twenty that are asked for at once [world]', async () => {
    const held = holding();
    const delivery = await waiting(reply(500), held.handler);
    const answers = await Promise.all(Array.from({ length: 20 }, () => act(delivery.id, 'retry')));
    const refusals = answers
      .filter(({ status }) => status !== 200)
      .map(({ status, json }) => [status, json.code]);
    assert.deepEqual(refusals, Array(19).fill([409, 'delivery_state_conflict']));
    await receiver.waitFor(() => received(delivery).length === 2);

    const refused = await act(delivery.id, 'retry');
    assert.equal(refused.status, 409);
    assert.equal(refused.json.code, 'delivery_state_conflict');
    assert.equal(refused.json.detail, 'Refused: an attempt is in flight.');
    held.answerAll(200);
    const done = await client.deliveryUntil(delivery.id, ({ status }) => status === 'delivered');
    assert.equal(received(delivery).length, 2);
    assert.deepEqual(
      done.attempts.map(({ trigger }) => trigger),
      ['schedule', 'manual'],
    );
    assert.deepEqual(
      done.interventions?.map(({ action, by }) => ({ action, by })),
      [{ action: 'retry', by: client.keyId }],
    );
    assert.ok(!Number.isNaN(Date.parse(done.interventions?.[0]?.at ?? '')));
  });

  it('pauses, refuses what a pause forbids, resumes where the schedule stood, and cancels; each with who and when', async () => {
    const delivery = await waiting(reply(500));
    const paused = await act(delivery.id, 'pause');
    assert.equal(paused.json.status, 'parked');
    for (const [action, detail] of [
      ['retry', 'Refused: the delivery is paused; resume it first.'],
      ['pause', 'Refused: the delivery is paused already.'],
    ] as const) {
      const refused = await act(delivery.id, action);
      assert.deepEqual([refused.status, refused.json.detail], [409, detail]);
    }
    const resumed = await act(delivery.id, 'resume');
    assert.equal(resumed.json.status, 'retrying');
    assert.equal(resumed.json.next_attempt_at, delivery.next_attempt_at);
    assert.equal((await act(delivery.id, 'resume')).status, 409);

    const cancelled = await act(delivery.id, 'cancel');
    assert.equal(cancelled.json.status, 'cancelled');
    const closed = await client.deliveryUntil(delivery.id, ({ closed_at }) => closed_at !== undefined);
    assert.equal(closed.status, 'cancelled');
    assert.deepEqual(
      closed.interventions?.map(({ action, by }) => `${action} ${by}`),
      ['pause', 'resume', 'cancel'].map((action) => `${action} ${client.keyId}`),
    );
    const late = await act(delivery.id, 'retry');
    assert.deepEqual([late.status, late.json.detail], [409, 'The delivery is closed: cancelled.']);
    assert.equal(received(delivery).length, 1);
  });

  it('answers 200 or 409, or that it takes too long, to acts upon deliveries that close meanwhile [world]', async () => {
    receiver.handle(reply(500));
    const { id: endpoint_id } = await client.register(receiver.url);
    const actUpon = async (id: string) => {
      let cancelled = 0;
      for (const action of ['cancel', 'retry']) {
        const answers = await Promise.all([act(id, action), act(id, action), act(id, action)]);
        for (const { status } of answers) assert.ok([200, 409, 503].includes(status), `${action}: ${status}`);
        if (action === 'cancel') cancelled += answers.filter(({ status }) => status === 200).length;
      }
      assert.ok(cancelled <= 1, `cancelled ${cancelled} times`);
    };
    // As many at once as race each other in their group.
    const times = Array.from({ length: 6 }, () => Date.now());
    const { events } = await startGroup(system, client, endpoint_id, times);
    const ids = events.map(({ event_id }) => deliveryId({ event_id, endpoint_id }));
    const waits = ({ status }: Delivery) => status === 'retrying' || status === 'parked';
    await Promise.all(ids.map((id) => client.deliveryUntil(id, waits)));
    await Promise.all(ids.map(actUpon));
  });

  it('acts upon a delivery as soon as its event is accepted, before its execution is started', async () => {
    const { id } = await client.register(receiver.url);
    assert.equal((await client.request('POST', `/v18.0/endpoints/${id}/pause`)).status, 200);
    const acted = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const [delivery] = (await client.purchase()).deliveries;
        return act(delivery?.id ?? '', 'cancel');
      }),
    );
    assert.deepEqual(new Set(acted.map(({ json }) => json.status)), new Set(['cancelled']));
  });

  it('takes the same acts as Temporal UI sends them: by name alone, or with any other field', async () => {
    const delivery = await waiting(reply(500), reply(500), reply(500), reply(200));
    const handle = await executionOf(system, delivery.workflow_id);
    const acted = (...args: unknown[]) => handle.executeUpdate('act', { args: args as [unknown] });
    await acted('pause');
    await assert.rejects(acted('retry'), WorkflowUpdateFailedError);
    await acted({ action: 'resume', by: 'Grace Hopper' });
    await acted({ action: 'pause', by: 42 });
    await acted({ action: 'resume', by: { nested: true } }, 'surplus');
    for (const wrong of [[], [null], ['throw'], [[]], [new Uint8Array([1, 2, 3])], [{ by: 'Ada' }]])
      await assert.rejects(acted(...wrong), WorkflowUpdateFailedError);
    await acted({ action: 'pause', by: null });
    await acted({ action: 'resume', by: 'Ada', delivery: delivery.id });
    await acted({ action: 'pause', by: [] });
    await acted({ action: 'resume', by: 'x'.repeat(5_000) });
    await acted('retry');
    const after = await client.deliveryUntil(delivery.id, ({ attempts }) => attempts.length === 2);
    assert.deepEqual(
      after.interventions?.map(({ by }) => by),
      [
        'an operator',
        'Grace Hopper',
        'an operator',
        'an operator',
        'an operator',
        'Ada',
        'an operator',
        'x'.repeat(200),
        'an operator',
      ],
    );
    await untilHeard(system, delivery.workflow_id);
    assert.equal((await act(delivery.id, 'cancel')).status, 200);
  });

  it('sends a closed delivery again, and keeps the earlier run readable [world]', async () => {
    receiver.handle(inTurn(reply(200), reply(500), reply(200)));
    const { id } = await send();
    const first = await client.deliveryUntil(id, ({ status }) => status === 'delivered');

    const resent = await act(id, 'resend');
    assert.equal(resent.status, 202);
    assert.notEqual(resent.json.run_id, first.run_id);
    const open = await client.deliveryUntil(
      id,
      ({ status, run_id }) => status === 'retrying' && run_id === resent.json.run_id,
    );
    const refused = await act(id, 'resend');
    assert.deepEqual([refused.status, refused.json.code], [409, 'delivery_state_conflict']);
    assert.equal(open.attempts[0]?.trigger, 'manual');
    await untilAtRest(system, open.workflow_id);
    assert.equal((await act(id, 'retry')).status, 200);
    const second = await client.deliveryUntil(id, ({ status }) => status === 'delivered');
    await untilHeard(system, second.workflow_id);
    assert.equal((await act(id, 'resend')).status, 202);
    const third = await client.deliveryUntil(
      id,
      ({ status, run_id }) => status === 'delivered' && run_id !== second.run_id,
    );

    assert.deepEqual(
      third.earlier_runs?.map((run) => [run.run_id, run.status, run.attempts.length]),
      [
        [second.run_id, 'delivered', 2],
        [first.run_id, 'delivered', 1],
      ],
    );
    assert.deepEqual(third.earlier_runs?.[1]?.attempts, first.attempts);
    assert.deepEqual(
      third.interventions?.map(({ action, by }) => [action, by]),
      [['resend', client.keyId]],
    );
    const bodies = new Set(received(first).map(({ body }) => body.toString()));
    assert.equal(received(first).length, 4);
    assert.equal(bodies.size, 1);
  });

  it('lists what was sent again once, in its newest run', async () => {
    receiver.handle(inTurn(reply(200), reply(500)));
    const { id } = await send();
    const list = async (query: string) =>
      (await client.request('GET', `/v18.0/deliveries?${query}`)).json.data.map(
        ({ run_id, status }: Delivery) => [run_id, status],
      );
    const [[firstRun]] = await until(
      () => list('status=delivered'),
      (rows) => rows.length === 1,
    );

    const { run_id } = (await act(id, 'resend')).json;
    assert.notEqual(run_id, firstRun);
    await until(
      () => list('status=retrying'),
      (rows) => rows.length === 1,
    );
    const newest = [[run_id, 'retrying']];
    assert.deepEqual(await list(''), newest);
    assert.deepEqual(await list('status=delivered'), []);
    const { deliveries } = (await client.request('GET', `/v18.0/events/${parseDeliveryId(id)?.event_id}`))
      .json;
    assert.deepEqual(
      deliveries.map(({ run_id, status }: Delivery) => [run_id, status]),
      newest,
    );
  });

  it('sends again what travelled in a group [world]', async () => {
    receiver.handle(reply(200));
    await client.register(receiver.url);
    const events = await Promise.all(Array.from({ length: 15 }, () => client.purchase()));
    const delivered = await Promise.all(
      events.map(({ deliveries }) =>
        client.deliveryUntil(deliveries[0]?.id ?? '', ({ status }) => status === 'delivered'),
      ),
    );
    const grouped = delivered.find(({ workflow_id }) => workflow_id.startsWith('group:'));
    assert.ok(grouped);
    assert.equal((await act(grouped.id, 'resend')).status, 202);
    const again = await client.deliveryUntil(
      grouped.id,
      ({ status, run_id }) => status === 'delivered' && run_id !== grouped.run_id,
    );
    assert.equal(again.earlier_runs?.[0]?.run_id, grouped.run_id);
    assert.deepEqual(again.earlier_runs?.[0]?.attempts, grouped.attempts);
    assert.equal(received(grouped).length, 2);

    const listed = await until(
      () => readAll<Delivery>(client, '/v18.0/deliveries?limit=7'),
      // What closes between two pages is on both.
      (rows) =>
        rows.every(({ status }) => status === 'delivered') &&
        rows.some(({ run_id }) => run_id === again.run_id),
    );
    assert.equal(listed.length, 15);
    assert.equal(new Set(listed.map(({ id }) => id)).size, 15);
  });

  it('answers 404 for another account, and for what never was [world]', async () => {
    const delivery = await waiting(reply(500));
    const other = await system.account();
    for (const action of ['retry', 'cancel', 'pause', 'resume', 'resend']) {
      const answer = await other.request('POST', `/v18.0/deliveries/${delivery.id}/${action}`);
      assert.equal(answer.status, 404, action);
    }
    assert.equal((await act(delivery.id, 'cancel')).status, 200);
  });

  it('tells a delivery that Temporal was asked to cancel from others', async () => {
    const delivery = await waiting(reply(500));
    await (await executionOf(system, delivery.workflow_id)).cancel();
    const closed = await client.deliveryUntil(delivery.id, ({ closed_at }) => closed_at !== undefined);
    assert.equal(closed.status, 'cancelled');
    assert.equal(closed.reason, 'Cancelled by temporal.');
  });
});

/** Keeps requests waiting until they are all answered. */
function holding(): { handler: Handler; answerAll(status: number): void } {
  const held: Parameters<Handler>[1][] = [];
  return {
    handler: (_request, response) => void held.push(response),
    answerAll: (status) => {
      for (const response of held) response.writeHead(status).end();
    },
  };
}

/** When each timer of a delivery fires, by its history, and what it says of itself. */
async function timersOf(
  system: SharedSystem,
  delivery: Delivery,
): Promise<{ firesAt: number; summary: string }[]> {
  const started = await until(
    async () =>
      (await fetchHistory(system, delivery.workflow_id)).events?.filter(
        (event) => event.timerStartedEventAttributes,
      ),
    (events) => (events?.length ?? 0) > 0,
  );
  return (started ?? []).map((event) => ({
    firesAt: millis(event.eventTime) + millis(event.timerStartedEventAttributes?.startToFireTimeout),
    summary: JSON.parse(Buffer.from(event.userMetadata?.summary?.data ?? []).toString() || '""'),
  }));
}

function millis(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
}

describe('control of a delivery that no worker runs', () => {
  it('answers 503 and says that the request may still take effect [world]', async () => {
    const system = await sharedSystem({}, 'api');
    const receiver = await startReceiver();
    try {
      const client = await system.account();
      await client.register(receiver.url);
      // Several, as the answer of a server that is late by its own clock is another one than the end of the client's
      // patience.
      const events = await Promise.all(Array.from({ length: 10 }, () => client.purchase()));
      const answers = await Promise.all(
        events.map(({ deliveries: [delivery] }) =>
          client.request('POST', `/v18.0/deliveries/${delivery?.id}/cancel`),
        ),
      );
      for (const answer of answers) {
        assert.equal(answer.status, 503);
        assert.equal(answer.headers.get('retry-after'), '5');
        assert.match(answer.json.detail, /^No worker responded within 5 seconds\./);
      }
    } finally {
      await receiver.close();
    }
  });
});
