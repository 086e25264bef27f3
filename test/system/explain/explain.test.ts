import assert from 'node:assert/strict';
import pLimit from 'p-limit';
import { newId } from '../../../src/domain/basics/ids.js';
import { OPERATOR, subscriberOrigin } from '../../../src/domain/change/change.js';
import { NOTICED_WITHIN_MS } from '../../../src/domain/explain/explain-absence.js';
import type { VerdictCode } from '../../../src/domain/explain/verdict.js';
import { deliveryWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import type { Delivery } from '../../../src/domain/view/delivery-view.js';
import type { EndpointInput } from '../../../src/models/endpoint/endpoint-document.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { executionOf } from '../../support/history.js';
import { recordedTerminations } from '../../support/parts/records.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type SharedSystem, sharedSystem, UNHURRIED } from '../../support/system.js';
import { until } from '../../support/until.js';

const ABOVE_100 = { path: '/total', at_least: 100 };

/** Behaviour of an endpoint before the event arrives, and the verdict that must follow. */
interface Cause {
  expected: VerdictCode;
  /** Where the receiver answers for it; the first part of the path is the status. */
  path?: string;
  register?: Record<string, unknown>;
  /** Makes the endpoint something else than a registered one. @returns its id */
  make?(): Promise<string>;
  before?(id: string): Promise<unknown>;
  after?(id: string): Promise<unknown>;
}

describe('explain', () => {
  let system: SharedSystem;
  let receiver: Receiver;
  let client: ApiClient;

  before(async () => {
    system = await sharedSystem(UNHURRIED);
    client = await system.account();
    receiver = await startReceiver({
      handler(request, response) {
        const [, status = '200', retryAfter] = (request.url ?? '').split('/');
        response.writeHead(Number(status), retryAfter ? { 'retry-after': retryAfter } : {}).end();
      },
    });
  });
  after(() => receiver.close());

  const explain = async (query: string, by = client) => {
    const answer = await by.request('GET', `/v18.0/explain?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  /** Does something as soon as it is allowed: a probe of the endpoint may be in flight. */
  const act = async (path: string) => {
    const { status, text } = await until(
      () => client.request('POST', `/v18.0/${path}`),
      (answer) => answer.status !== 409,
    );
    assert.ok(status < 300, text);
  };
  const post = (total = 12.5, order_id = 'order-1') =>
    client.purchase(JSON.stringify({ ...JSON.parse(PURCHASE), total, order_id }));
  const deliveriesOf = async (id: string): Promise<Delivery[]> =>
    (await client.request('GET', `/v18.0/deliveries?endpoint_id=${id}&event_kind=purchase&limit=100`)).json
      .data;
  /** Waits until the delivery of an endpoint has had its first attempt, and does something to it. */
  const afterFirst = async (id: string, doIt: (delivery: Delivery) => Promise<unknown>) => {
    const [delivery] = await until(
      () => deliveriesOf(id),
      (rows) => rows.length === 1 && rows[0]?.status === 'retrying',
    );
    await doIt(delivery ?? assert.fail());
  };
  const stored = (more: Partial<EndpointInput>): EndpointInput => ({
    target_url: `${receiver.url}/200`,
    event_kinds: ['purchase'],
    description: '',
    metadata: {},
    headers: {},
    status: 'active',
    status_when_verified: 'active',
    verification_method: 'challenge',
    ...more,
  });
  const create = async (more: Partial<EndpointInput>) =>
    system.database.endpoints.create(client.accountId, stored(more), OPERATOR);
  const remove = async (id: string) => {
    assert.equal((await client.request('DELETE', `/v18.0/endpoints/${id}`)).status, 204);
  };

  const causes: Record<string, Cause> = {
    answers: { expected: 'delivered', path: '/200' },
    fails: { expected: 'retrying', path: '/500' },
    refuses: {
      expected: 'retrying',
      async make() {
        const gone = await startReceiver();
        const { id } = await client.register(gone.url);
        await gone.close();
        return id;
      },
    },
    'asks to wait': { expected: 'retry_after', path: '/503/7200' },
    'has no schedule': { expected: 'exhausted', path: '/500', register: { retry_schedule: [] } },
    'is gone': { expected: 'endpoint_gone', path: '/410' },
    'is paused': { expected: 'endpoint_paused', before: (id) => act(`endpoints/${id}/pause`) },
    'is disabled': {
      expected: 'endpoint_disabled',
      before: (id) =>
        system.database.endpoints.disable(client.accountId, id, 'It failed too long.', 'test', OPERATOR),
    },
    'is verified again': {
      expected: 'endpoint_pending',
      async make() {
        const pending = await create({ status: 'pending' });
        const active = await system.database.endpoints.verified(pending, undefined, subscriberOrigin());
        assert.ok(active);
        await system.database.endpoints.replace(active, stored({ status: 'pending' }), OPERATOR);
        return active.id;
      },
    },
    'was never verified': {
      expected: 'pending_then',
      make: async () => (await create({ status: 'pending' })).id,
    },
    'is blocked': {
      expected: 'address_blocked',
      make: async () => (await create({ target_url: 'https://10.1.2.3/' })).id,
    },
    'wants other kinds': { expected: 'kind_not_registered', register: { event_kinds: ['order.*'] } },
    filters: { expected: 'filter_not_met', register: { filter: { all: [ABOVE_100] } } },
    'filters, and was changed since': {
      expected: 'filter_not_met',
      register: { filter: { not: { path: '/currency', exists: false } } },
      after: (id) => client.request('PATCH', `/v18.0/endpoints/${id}`, { body: { filter: null } }),
    },
    'was deleted before': { expected: 'deleted_before', before: remove },
    'was deleted meanwhile': { expected: 'endpoint_deleted', path: '/500', after: remove },
    'was cancelled': {
      expected: 'cancelled',
      path: '/500',
      after: (id) => afterFirst(id, (delivery) => act(`deliveries/${delivery.id}/cancel`)),
    },
    'was paused by hand': {
      expected: 'delivery_paused',
      path: '/500',
      after: (id) => afterFirst(id, (delivery) => act(`deliveries/${delivery.id}/pause`)),
    },
    'was terminated': {
      expected: 'terminated',
      path: '/500',
      after: (id) =>
        afterFirst(id, async (delivery) => {
          // What is sent again has an execution of its own.
          const workflowId = deliveryWorkflowId(client.accountId, delivery);
          await act(`deliveries/${delivery.id}/cancel`);
          await client.deliveryUntil(delivery.id, ({ status }) => status === 'cancelled');
          await act(`deliveries/${delivery.id}/resend`);
          await client.deliveryUntil(
            delivery.id,
            ({ workflow_id, status }) => workflow_id === workflowId && status === 'retrying',
          );
          await (await executionOf(system, workflowId)).terminate('by hand');
          await recordedTerminations(system, client, [delivery.id]);
        }),
    },
    'came later': {
      expected: 'registered_later',
      make: async () => '',
    },
  };

  it('names the cause of deliveries and missing deliveries of 20 kinds [world]', async () => {
    const endpoints: { cause: string; id: string }[] = [];
    for (const [name, cause] of Object.entries(causes)) {
      const id = cause.make
        ? await cause.make()
        : (await client.register(`${receiver.url}${cause.path ?? '/200'}`, cause.register)).id;
      await cause.before?.(id);
      endpoints.push({ cause: name, id });
    }
    // A process notices changes within a moment, which is not what this is about.
    const registered = Date.now();
    await until(
      () => Date.now() - registered,
      (passed) => passed > NOTICED_WITHIN_MS,
    );
    const event = await post();
    await receiver.waitFor((all) => all.some(({ path }) => path === '/200'), 150_000);
    await Promise.all(
      endpoints.map(async (endpoint) => {
        if (endpoint.id === '') endpoint.id = (await client.register(`${receiver.url}/200`)).id;
        await causes[endpoint.cause]?.after?.(endpoint.id);
      }),
    );

    const test = await client.request('POST', `/v18.0/endpoints/${endpoints[0]?.id}/test`);
    const cases = endpoints.map(({ cause, id }) => ({
      cause,
      endpoint: id,
      event: event.id,
      expected: causes[cause]?.expected,
    }));
    const strange = [
      {
        cause: 'event',
        endpoint: endpoints[0]?.id ?? '',
        event: newId('event', 1_700_000_000_000),
        expected: 'event_unknown' as const,
      },
      {
        cause: 'endpoint',
        endpoint: newId('endpoint'),
        event: event.id,
        expected: 'endpoint_unknown' as const,
      },
    ];
    const tests = endpoints.slice(1, 2).map(({ id }) => ({
      cause: 'test',
      endpoint: id,
      event: test.json.id,
      expected: 'test_of_another_endpoint' as const,
    }));
    const all = [...cases, ...strange, ...tests];

    // What is in motion comes to rest.
    await until(
      async () =>
        (await client.request('GET', '/v18.0/deliveries?status=delivering&limit=1')).json.data.length,
      (moving) => moving === 0,
    );
    const limit = pLimit(8);
    await Promise.all(
      all.map(({ cause, endpoint, event, expected }) =>
        limit(async () => {
          const { summary } = await until(
            async () => ({ cause, ...(await explain(`endpoint_id=${endpoint}&event_id=${event}`)) }),
            // A deletion reaches what waits a moment later.
            ({ code }) => code === expected,
          );
          assert.ok(summary.length > 10);
        }),
      ),
    );
  });

  it('says what a delivery waits for: its turn, or its endpoint, which keeps failing [world]', async () => {
    const own = await system.account();
    const slow = await own.register(`${receiver.url}/200/slow`, { rate_limit: 0.01 });
    const failing = await own.register(`${receiver.url}/500`);
    const posted = await Promise.all(Array.from({ length: 15 }, () => own.purchase()));
    const verdicts = async (id: string) => {
      const all = posted.map((event) => explain(`endpoint_id=${id}&event_id=${event.id}`, own));
      return Promise.all(all);
    };
    const codes = (all: { code: string }[]) => [...new Set(all.map(({ code }) => code))].sort();
    const turns = await until(
      () => verdicts(slow.id),
      (all) => !codes(all).includes('in_flight'),
    );
    assert.deepEqual(codes(turns), ['delivered', 'waits_its_turn']);
    assert.equal(turns.filter(({ code }) => code === 'delivered').length, 1);
    const waiting = turns.find(({ code }) => code === 'waits_its_turn');
    assert.match(waiting.summary, /at most 0.01 deliveries per second/);
    assert.ok(Date.parse(waiting.next_attempt_at) > Date.now());

    const later = await until(
      async () => {
        const { id } = await own.purchase();
        return until(
          () => explain(`endpoint_id=${failing.id}&event_id=${id}`, own),
          ({ code }) => code !== 'in_flight',
        );
      },
      ({ code, summary }) => code === 'endpoint_failing' && summary.includes('the next one is due'),
    );
    assert.match(
      later.summary,
      /has been failing since .*: the last attempt got a 500 response, at .*; the next one is due at /,
    );
  });

  it('finds the event by a business key, and says who paused it', async () => {
    const { id } = await client.register(`${receiver.url}/500`);
    const first = await post(1, 'order-1001');
    const second = await post(2, 'order-1001');
    const query = `endpoint_id=${id}&key=order_id:order-1001`;
    const found = await until(
      () => explain(query),
      ({ code, other_events }) => code === 'retrying' && other_events?.length === 1,
    );
    assert.equal(found.event.id, second.id);
    assert.deepEqual(found.other_events, [first.id]);
    assert.equal(found.delivery.last_attempt.status_code, 500);
    const before = Date.now();
    await act(`deliveries/${found.delivery.id}/pause`);
    const after = Date.now();
    const paused = await explain(query);
    assert.deepEqual([paused.code, paused.by], ['delivery_paused', client.keyId]);
    const since = Date.parse(paused.since);
    assert.ok(since >= before - 1_000 && since <= after, paused.since);

    const { id: other } = await client.register(`${receiver.url}/200`);
    await act(`endpoints/${other}/pause`);
    await post(3, 'order-1002');
    const parked = await until(
      () => explain(`endpoint_id=${other}&key=order_id:order-1002&event_kind=purchase`),
      ({ code }) => code === 'endpoint_paused',
    );
    assert.equal(parked.by, client.keyId);
    assert.equal((await explain(`endpoint_id=${other}&key=order_id:none`)).code, 'event_unknown');
  });

  it('names the clause of the filter, as it was when the event was accepted', async () => {
    const { id } = await client.register(`${receiver.url}/200`, { filter: { all: [ABOVE_100] } });
    const event = await post(12.5);
    await client.request('PATCH', `/v18.0/endpoints/${id}`, { body: { filter: { all: [] } } });
    await client.request('PATCH', `/v18.0/endpoints/${id}`, { body: { filter: null } });
    const { clauses, ...verdict } = await explain(`endpoint_id=${id}&event_id=${event.id}`);
    assert.deepEqual(clauses, [{ clause: '/all/0', path: '/total', condition: ABOVE_100, found: 12.5 }]);
    assert.match(verdict.summary, /: \/total at_least 100\.$/);
    assert.deepEqual(verdict.event, { id: event.id, kind: 'purchase', created_at: event.created_at });
  });

  it('predicts the next attempt to the second, alone and in a group [world]', async () => {
    const own = await system.account();
    const { id } = await own.register(`${receiver.url}/500/again`, { retry_schedule: ['10s'] });
    const posted = [await own.purchase()];
    // Fewer than have ten failures, from which on a probe may come before the attempt that is predicted.
    posted.push(...(await Promise.all(Array.from({ length: 3 }, () => own.purchase()))));
    const predicted = await Promise.all(
      posted.map((event) =>
        until(
          () => explain(`endpoint_id=${id}&event_id=${event.id}`, own),
          ({ code }) => code === 'retrying',
        ),
      ),
    );
    const late = await Promise.all(
      predicted.map(async ({ delivery, next_attempt_at }) => {
        const { attempts } = await own.deliveryUntil(delivery.id, ({ status }) => status === 'exhausted');
        const [, second] = attempts;
        return Date.parse(second?.at ?? '') - Date.parse(next_attempt_at);
      }),
    );
    // A busy machine makes some of them later.
    assert.ok(Math.min(...late) > -1_000 && Math.min(...late) < 5_000, `${late.join()} ms late`);
  });

  it('is about an account’s own events and endpoints, and names one event', async () => {
    const other = await system.account();
    const { id } = await client.register(`${receiver.url}/200`);
    const event = await post(1, 'own-order');
    const theirs = await other.register(`${receiver.url}/200`);
    await until(
      () => explain(`endpoint_id=${id}&event_id=${event.id}`),
      ({ code }) => code === 'delivered',
    );
    assert.equal((await explain(`endpoint_id=${id}&event_id=${event.id}`, other)).code, 'event_unknown');
    assert.equal((await explain(`endpoint_id=${id}&key=order_id:own-order`, other)).code, 'event_unknown');
    assert.equal((await explain(`endpoint_id=${theirs.id}&event_id=${event.id}`)).code, 'endpoint_unknown');
    for (const query of [
      `endpoint_id=${id}`,
      `endpoint_id=${id}&event_id=${event.id}&key=a:1`,
      `event_id=${event.id}`,
    ]) {
      const refused = await client.request('GET', `/v18.0/explain?${query}`);
      assert.equal(refused.status, 400, refused.text);
    }
    const reader = await system.account(['endpoints:read']);
    assert.equal(
      (await reader.request('GET', `/v18.0/explain?endpoint_id=${id}&event_id=${event.id}`)).status,
      403,
    );
  });
});
