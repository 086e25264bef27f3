import assert from 'node:assert/strict';
import type { ShownStatus } from '../../../src/domain/delivery/delivery.js';
import type { TimelineItem } from '../../../src/domain/explain/timeline.js';
import { groupWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Delivery, DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { executionOf, untilHeard } from '../../support/history.js';
import { readAll } from '../../support/parts/pages.js';
import { recordedTerminations } from '../../support/parts/records.js';
import { inTurn, neverAnswer, type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, UNHURRIED } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Deliveries of one event to so many endpoints are a group. */
const IN_GROUP = 12;

/** How an endpoint treats its delivery, and what the delivery comes to at once. */
const TREATMENTS = {
  succeeds: { status: 'delivered' },
  'succeeds at the second attempt': { status: 'delivered', body: { retry_schedule: ['100ms'] } },
  fails: { status: 'retrying' },
  'fails for good': { status: 'exhausted', body: { retry_schedule: ['100ms'] } },
  'is paused': { status: 'parked', body: { status: 'paused' } },
  'never answers': { status: 'delivering' },
} as const satisfies Record<string, { status: ShownStatus; body?: object }>;

type Treatment = keyof typeof TREATMENTS;
const NAMES = Object.keys(TREATMENTS) as Treatment[];

/** The fields that lists show, of a delivery from any view. */
const shown = (one: DeliverySummary) => ({
  id: one.id,
  event_id: one.event_id,
  endpoint_id: one.endpoint_id,
  event_kind: one.event_kind,
  status: one.status,
  created_at: one.created_at,
  started_at: one.started_at,
  closed_at: one.closed_at,
  next_attempt_at: one.next_attempt_at,
  reason: one.reason,
  workflow_id: one.workflow_id,
  run_id: one.run_id,
});

describe('the views of a delivery', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem(UNHURRIED);
    receiver = await startReceiver();
    const handlers = {
      succeeds: reply(200),
      'succeeds at the second attempt': inTurn(reply(500), reply(200)),
      fails: reply(503, { 'retry-after': '3000' }),
      'fails for good': reply(500),
      'is paused': reply(200),
      'never answers': neverAnswer,
    } satisfies Record<Treatment, unknown>;
    receiver.handle((request, ...rest) => {
      const name = decodeURIComponent(request.url ?? '')
        .slice(1)
        .replace(/\/.*$/, '') as Treatment;
      return handlers[name](request, ...rest);
    });
  });
  after(() => receiver.close());
  beforeEach(async () => {
    client = await system.account();
  });

  const get = async (path: string) => (await client.request('GET', `/v18.0${path}`)).json;
  const act = async (id: string, action: string) => {
    const { status, text } = await client.request('POST', `/v18.0/deliveries/${id}/${action}`);
    assert.ok(status < 300, text);
  };

  /** Registers endpoints with these treatments. @returns the treatment of each, by id */
  async function register(treatments: readonly Treatment[]): Promise<Map<string, Treatment>> {
    const names = new Map<string, Treatment>();
    for (const [index, name] of treatments.entries()) {
      const { body = {} } = TREATMENTS[name] as { body?: Record<string, unknown> };
      const url = `${receiver.url}/${encodeURIComponent(name)}/${index}`;
      names.set((await client.register(url, body)).id, name);
    }
    return names;
  }

  /** Waits until every view of an event's deliveries says the same, and that what is expected. */
  async function agreed(
    eventId: string,
    expected: (summary: DeliverySummary) => ShownStatus,
  ): Promise<Delivery[]> {
    const sorted = (all: DeliverySummary[]) => all.map(shown).sort((a, b) => a.id.localeCompare(b.id));
    const list = async () => sorted((await get(`/deliveries?limit=100&event_id=${eventId}`)).data);
    // All views are read once the list says what is expected.
    await until(
      list,
      (listed) => listed.length > 0 && listed.every((one) => one.status === expected(one as never)),
    );
    const read = async () => {
      const listed = await list();
      const ofEvent = sorted((await get(`/events/${eventId}`)).deliveries);
      const full: Delivery[] = [];
      for (const { id } of listed) full.push(await get(`/deliveries/${id}`));
      const byFilter: DeliverySummary[] = [];
      for (const status of new Set(listed.map((one) => one.status)))
        byFilter.push(...(await get(`/deliveries?limit=100&event_id=${eventId}&status=${status}`)).data);
      return { listed, ofEvent, single: sorted(full), byFilter: sorted(byFilter), full };
    };
    const { full, ...views } = await until(read, ({ listed, ofEvent, single, byFilter }) => {
      const text = JSON.stringify(listed);
      const same = [ofEvent, single, byFilter].every((view) => JSON.stringify(view) === text);
      return same && listed.length > 0 && listed.every((one) => one.status === expected(one as never));
    }).catch(async (error: unknown) => {
      const { full: _, ...last } = await read();
      assert.deepEqual(last.ofEvent, last.listed, 'event and list');
      assert.deepEqual(last.single, last.listed, 'delivery and list');
      assert.deepEqual(last.byFilter, last.listed, 'list by status and list');
      throw error;
    });
    for (const one of views.listed) {
      assert.ok(one.reason, `${one.status} without a reason`);
      const isOpen = ['delivering', 'retrying', 'parked'].includes(one.status);
      assert.equal(one.closed_at === undefined, isOpen, `${one.status} closed at ${one.closed_at}`);
      assert.equal(one.next_attempt_at !== undefined, one.status === 'retrying', one.status);
    }
    for (const one of full) await assertTold(one);
    return full;
  }

  /** The timeline says what the delivery says. */
  async function assertTold(one: Delivery): Promise<void> {
    const items: TimelineItem[] = (await get(`/deliveries/${one.id}/timeline`)).data;
    const runs = [...(one.earlier_runs ?? [])].reverse();
    const attempts = [...runs, one].flatMap((run) => run.attempts);
    // What was before a reset in Temporal stays in the timeline alone.
    const since = items.findLastIndex(({ type }) => type === 'reset');
    assert.deepEqual(
      items.flatMap(({ type, at, number, status_code, url }, index) =>
        type === 'attempt' && index > since ? [{ at, number, status_code, url }] : [],
      ),
      attempts.map(({ at, number, status_code, url }) => ({ at, number, status_code, url })),
    );
    const acts = [...runs, one].flatMap(({ interventions = [] }) => interventions);
    assert.deepEqual(
      items.flatMap(({ action, at, by }) => (action ? [{ action, at, by }] : [])),
      acts.flatMap(({ action, at, by }) => (action === 'terminate' ? [] : [{ action, at, by }])),
    );
    assert.equal(items[0]?.at, one.created_at);
    const last = items.findLast(({ type }) => type !== 'incident');
    assert.equal(last?.status, one.closed_at === undefined ? undefined : one.status, JSON.stringify(items));
    if (one.closed_at !== undefined) assert.equal(last?.at, one.closed_at);
    assert.equal(last?.next_attempt_at, one.next_attempt_at);
    if (one.next_attempt_at !== undefined) assert.equal(last?.text, one.reason);
    if (one.status === 'terminated') assert.equal(last?.text, one.reason);
  }

  /** Terminates the execution of some deliveries in Temporal, and waits until the rows of the open ones say it. */
  async function terminate(some: readonly (Delivery | undefined)[]): Promise<void> {
    const { workflow_id = '' } = some[0] ?? {};
    await (await executionOf(system, workflow_id)).terminate('asked to by the subscriber');
    const open = some.flatMap((one) => (one?.closed_at === undefined ? (one?.id ?? []) : []));
    await recordedTerminations(system, client, open);
  }

  function assertTerminated(delivery: Delivery): void {
    const by = system.temporal.client.options.identity;
    assert.equal(delivery.reason, `Terminated in Temporal by ${by}: asked to by the subscriber.`);
    const last = delivery.interventions?.at(-1);
    assert.deepEqual([last?.action, last?.by, last?.at], ['terminate', by, delivery.closed_at]);
  }

  for (const name of NAMES)
    it(`agree on one by itself whose endpoint ${name}`, async () => {
      await register([name]);
      const event = await client.purchase();
      const [delivery] = await agreed(event.id, () => TREATMENTS[name].status);
      assert.equal(delivery?.workflow_id, `${delivery?.id}:${client.accountId}`);
    });

  it('agree on the deliveries of a group [world]', async () => {
    const names = await register(
      [...NAMES, ...NAMES].filter((name) => name !== 'never answers').concat('succeeds', 'succeeds'),
    );
    assert.equal(names.size, IN_GROUP);
    const event = await client.purchase();
    const all = await agreed(event.id, (one) => TREATMENTS[names.get(one.endpoint_id) ?? 'fails'].status);
    assert.deepEqual(
      [...new Set(all.map(({ workflow_id }) => workflow_id))],
      [groupWorkflowId(`${event.id}:0`)],
    );
    for (const one of all.filter(({ status }) => status === 'exhausted'))
      assert.equal(one.attempts.length, 2);
  });

  it('agree on the deliveries of a group whose first attempts are under way [world]', async () => {
    await register(Array.from({ length: IN_GROUP }, () => 'never answers' as const));
    const event = await client.purchase();
    const all = await agreed(event.id, () => 'delivering');
    for (const { reason } of all) assert.match(reason ?? '', /^The first attempt is under way/);
  });

  it('agree on the deliveries of a group that has closed, at once and later [world]', async () => {
    for (const name of ['succeeds', 'fails for good'] as const) {
      client = await system.account();
      await register(Array.from({ length: IN_GROUP }, () => name));
      const event = await client.purchase();
      const all = await agreed(event.id, () => TREATMENTS[name].status);
      const group = await executionOf(system, all[0]?.workflow_id ?? '');
      await until(
        () => group.describe(),
        ({ status }) => status.name === 'COMPLETED',
      );
      await agreed(event.id, () => TREATMENTS[name].status);
    }
  });

  it('agree on deliveries of a group that were acted upon, where they are and sent again [world]', async () => {
    const names = await register(Array.from({ length: IN_GROUP }, () => 'fails' as const));
    assert.equal(names.size, IN_GROUP);
    const event = await client.purchase();
    const [paused, cancelled, retried, again] = await agreed(event.id, () => 'retrying');
    assert.ok(paused && cancelled && retried && again);
    await act(paused.id, 'pause');
    await act(cancelled.id, 'cancel');
    await act(retried.id, 'retry');
    await act(again.id, 'cancel');
    await client.deliveryUntil(again.id, ({ status }) => status === 'cancelled');
    await until(
      () => client.request('POST', `/v18.0/deliveries/${again.id}/resend`),
      ({ status }) => status === 202,
    );
    const ends = new Map<string, ShownStatus>([
      [paused.id, 'parked'],
      [cancelled.id, 'cancelled'],
    ]);
    await client.deliveryUntil(retried.id, ({ attempts }) => attempts.length === 2);
    const all = await agreed(event.id, ({ id }) => ends.get(id) ?? 'retrying');
    assert.equal(all.find(({ id }) => id === again.id)?.earlier_runs?.length, 1);
  });

  it('agree on a delivery and a group that were terminated in Temporal: by whom, why, and what had ended before [world]', async () => {
    await register(['fails']);
    const single = await client.purchase();
    await terminate(await agreed(single.id, () => 'retrying'));
    const [delivery] = await agreed(single.id, () => 'terminated');
    assert.ok(delivery);
    assertTerminated(delivery);
    assert.equal(delivery.attempts.length, 1);

    client = await system.account();
    const names = await register(
      Array.from({ length: IN_GROUP }, (_, index) => (index % 2 ? 'fails' : 'succeeds')),
    );
    const event = await client.purchase();
    const statusOf = (one: DeliverySummary) => TREATMENTS[names.get(one.endpoint_id) ?? 'fails'].status;
    await terminate(await agreed(event.id, statusOf));
    const all = await agreed(event.id, (one) => (statusOf(one) === 'delivered' ? 'delivered' : 'terminated'));
    for (const one of all) if (one.status === 'terminated') assertTerminated(one);
    // What was terminated can be sent again.
    const lost = all.find(({ status }) => status === 'terminated');
    await act(lost?.id ?? '', 'resend');
    await agreed(event.id, (one) =>
      one.id === lost?.id ? 'retrying' : statusOf(one) === 'delivered' ? 'delivered' : 'terminated',
    );
  });

  it('agree on the run that counts if an execution was reset in Temporal [world]', async () => {
    const reset = async (workflowId: string) => {
      const { client: temporal } = system.temporal;
      await untilHeard(system, workflowId);
      const { runId } = await temporal.workflow.getHandle(workflowId).describe();
      await temporal.workflowService.resetWorkflowExecution({
        namespace: temporal.options.namespace,
        workflowExecution: { workflowId, runId },
        reason: 'tried again by hand',
        workflowTaskFinishEventId: 4 as never,
        requestId: workflowId,
      });
      return runId;
    };
    await register(['fails']);
    const single = await client.purchase();
    const [before] = await agreed(single.id, () => 'retrying');
    const former = await reset(before?.workflow_id ?? '');
    await client.deliveryUntil(
      before?.id ?? '',
      ({ run_id, status }) => run_id !== former && status === 'retrying',
    );
    const [delivery] = await agreed(single.id, () => 'retrying');
    const items: TimelineItem[] = (await get(`/deliveries/${delivery?.id}/timeline`)).data;
    assert.equal(items.filter(({ type }) => type === 'attempt').length, 2);

    client = await system.account();
    const names = await register(
      Array.from({ length: IN_GROUP }, (_, index) => (index % 2 ? 'fails' : 'succeeds')),
    );
    const event = await client.purchase();
    const statusOf = (one: DeliverySummary) => TREATMENTS[names.get(one.endpoint_id) ?? 'fails'].status;
    const members = await agreed(event.id, statusOf);
    const formerGroup = await reset(members[0]?.workflow_id ?? '');
    for (const { id } of members)
      await client.deliveryUntil(id, (one) => one.run_id !== formerGroup && one.status === statusOf(one));
    const all = await agreed(event.id, statusOf);
    assert.equal(all.length, IN_GROUP);
    for (const one of all) assert.notEqual(one.run_id, formerGroup);
  });
});

describe('the views of a delivery that expires', () => {
  it('agree, by itself and in a group [world]', async () => {
    const system = await sharedSystem({ HOOKLINE_PARK_LIMIT: '300ms' });
    const receiver = await startReceiver();
    try {
      for (const count of [1, IN_GROUP]) {
        const client = await system.account();
        for (let index = 0; index < count; index++)
          await client.register(receiver.url, index % 2 === 0 ? { status: 'paused' } : {});
        const event = await client.purchase();
        const list = async () =>
          (await client.request('GET', `/v18.0/deliveries?limit=100&event_id=${event.id}`)).json
            .data as DeliverySummary[];
        const listed = await until(
          list,
          (all) =>
            all.length === count && all.every(({ status }) => status === 'expired' || status === 'delivered'),
        );
        for (const one of listed) {
          const single = await client.delivery(one.id);
          assert.deepEqual(shown(single), shown(one));
          assert.ok(one.closed_at);
          if (one.status === 'expired') assert.match(one.reason ?? '', /^Parked for 300ms, the limit/);
        }
      }
    } finally {
      await receiver.close();
    }
  });
});

describe('the views of deliveries under load', () => {
  it('have a reason for each that is open, and when it goes on or what it waits for [world]', async () => {
    const system = await sharedSystem(UNHURRIED);
    const receiver = await startReceiver({ handler: neverAnswer });
    try {
      const client = await system.account();
      await client.register(receiver.url);
      const events = await Promise.all(Array.from({ length: 90 }, () => client.purchase()));
      const readOpen = () => readAll(client, '/v18.0/deliveries?limit=100&open=true');
      const open = await until(readOpen, ({ length }) => length === events.length);
      for (const { status, reason, next_attempt_at } of open) {
        const isStated =
          next_attempt_at !== undefined || /worker is free\.$|^The endpoint is/.test(reason ?? '');
        assert.ok(reason && isStated, `${status}: ${reason}`);
      }
    } finally {
      await receiver.close();
    }
  });
});
