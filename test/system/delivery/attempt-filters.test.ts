import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Delivery, DeliverySummary } from '../../../src/domain/view/delivery-view.js';
import type { ApiClient } from '../../support/api-client.js';
import { untilHeard, workflowIdOf } from '../../support/history.js';
import { readAll } from '../../support/parts/pages.js';
import { forget, recorded } from '../../support/parts/records.js';
import { startGroup } from '../../support/parts/start-group.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { startSystem, type TestSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

/** Slower than this is slow, milliseconds: the others answer at once. */
const SLOW_MS = 700;

/** A system of its own, because all that it has closed is recorded and removed from Temporal. */
describe('deliveries by their attempts', () => {
  let system: TestSystem;
  let receiver: Receiver;
  let client: ApiClient;
  let all: Delivery[];
  const isFailing = new Set(['/flaky', '/resent']);

  before(async () => {
    system = await startSystem({ HOOKLINE_RETRY_SCHEDULE: '100ms,100ms' });
    const seen = new Map<string, number>();
    receiver = await startReceiver({
      handler: async (request, response) => {
        const path = request.url ?? '';
        const id = `${path} ${request.headers['webhook-id']}`;
        seen.set(id, (seen.get(id) ?? 0) + 1);
        if (path === '/slow') await delay(SLOW_MS + 200);
        const fails = isFailing.has(path) && (path === '/resent' || seen.get(id) === 1);
        response.writeHead(fails ? (path === '/flaky' ? 503 : 500) : 200).end('{"a":1}');
      },
    });
    const gone = await startReceiver();
    client = await system.account();
    const endpoints: string[] = [];
    for (const url of ['/ok', '/slow', '/flaky', '/resent'].map((path) => receiver.url + path))
      endpoints.push((await client.register(url)).id);
    endpoints.push((await client.register(`${gone.url}/gone`)).id);
    await gone.close();
    const ids = (await client.purchase()).deliveries.map(({ id }) => id);
    // Those of a group are told by its history alone.
    const { events } = await startGroup(system, client, endpoints[2] ?? '', [Date.now(), Date.now() - 1]);
    ids.push(...events.map(({ event_id }) => `dlv_${event_id.slice(4)}_${endpoints[2]?.slice(3)}`));
    for (const id of ids) await client.deliveryUntil(id, ({ closed_at }) => closed_at !== undefined);
    // Of the earlier run 500, of the later one 200.
    isFailing.delete('/resent');
    const resent = ids.find((id) => id.endsWith(endpoints[3]?.slice(3) ?? '-')) ?? '';
    await untilHeard(system, workflowIdOf(client, resent));
    assert.equal((await client.request('POST', `/v18.0/deliveries/${resent}/resend`)).status, 202);
    await client.deliveryUntil(
      resent,
      ({ status, earlier_runs }) => status === 'delivered' && earlier_runs !== undefined,
    );
    all = await Promise.all(ids.map((id) => client.delivery(id)));
    await until(
      () => readAll<DeliverySummary>(client, '/v18.0/deliveries?limit=100'),
      (rows) => rows.length === ids.length && rows.every(({ closed_at }) => closed_at !== undefined),
    );
  });
  after(async () => {
    await receiver.close();
    await system.stop();
  });

  type Some = Delivery['attempts'][number];
  const FILTERS: Record<string, (attempt: Some) => boolean> = {
    'any_attempt_status_code=503': ({ status_code }) => status_code === 503,
    'any_attempt_status_code=500': ({ status_code }) => status_code === 500,
    'any_attempt_status_code=404': () => false,
    'any_attempt_error_code=connection_refused': ({ error_code }) => error_code === 'connection_refused',
    [`any_attempt_longer_than=${SLOW_MS}ms`]: ({ duration_ms }) => duration_ms > SLOW_MS,
    'any_attempt_longer_than=1h': () => false,
    'any_attempt_address=127.0.0.0/8,::1': ({ address }) => address !== undefined,
    'any_attempt_not_address=10.0.0.0/8': ({ address }) => address !== undefined,
    'any_attempt_not_address=127.0.0.0/8,::1': () => false,
    'any_attempt_status_code=200&any_attempt_longer_than=700ms': ({ status_code, duration_ms }) =>
      status_code === 200 && duration_ms > SLOW_MS,
    // On a busy machine one of them may be slow.
    'any_attempt_status_code=503&any_attempt_longer_than=700ms': ({ status_code, duration_ms }) =>
      status_code === 503 && duration_ms > SLOW_MS,
    'any_attempt_status_code=503&any_attempt_error_code=timeout': () => false,
  };

  function expected(matches: (attempt: Some) => boolean) {
    return all
      .map(({ id, run_id, attempts, earlier_runs = [] }) => ({
        id,
        asked: [{ run_id, attempts }, ...earlier_runs].flatMap((run) =>
          run.attempts.filter(matches).map(({ number, duration_ms }) => [run.run_id, number, duration_ms]),
        ),
      }))
      .filter(({ asked }) => asked.length > 0)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function listed(query: string, limit: number) {
    const rows = await readAll<DeliverySummary>(client, `/v18.0/deliveries?${query}&limit=${limit}`);
    return rows
      .map(({ id, matching_attempts = [] }) => ({
        id,
        asked: matching_attempts.map(({ run_id, number, duration_ms }) => [run_id, number, duration_ms]),
      }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function compare(queries: readonly string[], limit: number) {
    for (const query of queries)
      assert.deepEqual(
        await listed(query, limit),
        expected(FILTERS[query] ?? assert.fail(query)),
        `${query} by ${limit}`,
      );
  }

  /**
   * Attempts of a group, of an earlier run, and one without a response: this shows where attempts are read; a unit test
   * shows how they are compared.
   */
  const KINDS = Object.keys(FILTERS).filter((query) =>
    /^any_attempt_(status_code=50[03]|error_code)[^&]*$/.test(query),
  );

  async function compareKinds() {
    await compare(KINDS, 100);
    const flaky = all.filter(({ attempts }) => attempts[0]?.status_code === 503);
    assert.equal(flaky.length, 3);
    const endpoint = `endpoint_id=${flaky[0]?.endpoint_id}&status=delivered`;
    assert.equal((await listed(`${endpoint}&any_attempt_status_code=503`, 2)).length, 3);
    assert.equal((await listed(`${endpoint}&any_attempt_status_code=500`, 2)).length, 0);
  }

  it('are found by any attempt of any run, with the attempts that match [world]', async () => {
    await compare(Object.keys(FILTERS), 100);
    await compareKinds();
    await compare(KINDS, 1);
    const [row] = (await client.request('GET', '/v18.0/deliveries?any_attempt_status_code=500')).json.data;
    const [attempt] = row.matching_attempts;
    assert.equal(attempt.endpoint_version, 1);
    assert.match(attempt.url, /\/resent$/);
    assert.equal(attempt.response_snippet, undefined);
    assert.equal(attempt.run_id, all.find(({ id }) => id === row.id)?.earlier_runs?.[0]?.run_id);
  });

  it('are found in lists alike, whichever of them Temporal has removed [world]', async () => {
    await recorded(
      system,
      client,
      all.map(({ id }) => id),
    );
    const every = all.flatMap(({ workflow_id, run_id, earlier_runs = [] }) => [
      { workflow_id, run_id },
      ...earlier_runs.map((run) => ({ workflow_id, run_id: run.run_id })),
    ]);
    // Two of them are in one group.
    const runs = [...new Map(every.map((run) => [run.run_id, run])).values()];
    for (const some of [
      runs.filter((_, index) => index % 2 === 0),
      runs.filter((_, index) => index % 2 === 1),
    ]) {
      await forget(system, some);
      await compareKinds();
    }
  });

  it('are nobody else’s, and ask for what can be', async () => {
    const other = await system.account();
    assert.deepEqual(await readAll(other, '/v18.0/deliveries?any_attempt_not_address=10.0.0.0/8'), []);
    for (const [query, says] of [
      ['any_attempt_address=10.0.0.0/33', /any_attempt_address must be networks or addresses/],
      [`any_attempt_address=${Array.from({ length: 21 }, () => '::1').join()}`, /at most 20/],
      [`any_attempt_not_address=${'1'.repeat(5_000)}`, /any_attempt_not_address/],
      ['any_attempt_longer_than=-1s', /must be a duration/],
      ['any_attempt_longer_than=2h', /must be a duration/],
      ['any_attempt_error_code=none', /must be one of/],
      ['any_attempt_status_code=99', /must be an HTTP status from 100 to 599/],
    ] as const) {
      const { status, json } = await client.request('GET', `/v18.0/deliveries?${query}`);
      assert.equal(status, 400, query);
      assert.match(json.detail, says);
    }
    // Lists of events have no such filter: a delivery has attempts.
    assert.equal((await client.request('GET', '/v18.0/events?any_attempt_status_code=503')).status, 400);
  });
});
