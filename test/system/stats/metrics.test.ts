import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Registry } from 'prom-client';
import { newWitnessKey, readWitnessSigner } from '../../../packages/tlog/src/index.js';
import { requireServers } from '../../../src/bin/process/server-settings.js';
import { createBacklogMetrics } from '../../../src/bin/service/counts/backlog-metrics.js';
import { loadSettings } from '../../../src/config/load.js';
import { spansWithin } from '../../../src/domain/stats/tally.js';
import { connectDatabase } from '../../../src/models/database.js';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { type ApiClient, PURCHASE } from '../../support/api-client.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { usedMetrics } from '../../support/programs/watch-files.js';
import { type Receiver, reply, startReceiver } from '../../support/receiver.js';
import { newAccount, startSystem, type TestSystem, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

/** A sample: `name{labels}` and its value. */
type Samples = Map<string, number>;

async function scrape(url: string): Promise<{ text: string; samples: Samples }> {
  const answer = await fetch(`${url}/metrics`);
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const samples = lines.map((line): [string, number] => {
    const space = line.lastIndexOf(' ');
    return [line.slice(0, space), Number(line.slice(space + 1))];
  });
  return { text, samples: new Map(samples) };
}

/** Names, types and labels of the metrics in a text of Prometheus that begin with `hookline_`. */
function metricsIn(text: string): Map<string, { type: string; labels: Set<string> }> {
  const metrics = new Map<string, { type: string; labels: Set<string> }>();
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (hookline_\w+) (\w+)$/gm))
    metrics.set(name, { type, labels: new Set() });
  for (const [, series = '', labels = ''] of text.matchAll(/^(hookline_\w+)\{(.*)\} /gm)) {
    const metric = metrics.get(series) ?? metrics.get(series.replace(/_(bucket|sum|count)$/, ''));
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) if (label !== 'le') metric?.labels.add(label);
  }
  return metrics;
}

const purchaseOf = (total: number) => JSON.stringify({ ...JSON.parse(PURCHASE), total });
/** Few events go to endpoints that fail, so that their incidents hold none of them back. */
const SMALL = { filter: { path: '/total', less_than: 100 } };
const EVENTS = 20;
/** Outcomes of the attempts: others than those of what has closed by then may come later. */
const MADE = new Map([
  ['hookline_attempts_total{outcome="delivered",response="2xx"}', EVENTS + 2],
  // Two first attempts at each of both endpoints, and one more at the one that gives up.
  ['hookline_attempts_total{outcome="failed",response="5xx"}', 6],
  ['hookline_attempts_total{outcome="failed",response="connection_refused"}', 1],
  ['hookline_attempts_not_made_total{reason="deferred"}', 1],
  ['hookline_attempts_not_made_total{reason="paused"}', 2],
]);

describe('/metrics', () => {
  let system: TestSystem;
  let client: ApiClient;
  const receivers: Receiver[] = [];
  let ids: string[];

  before(async () => {
    system = await startSystem({
      HOOKLINE_RETRY_SCHEDULE: '1h',
      HOOKLINE_RATE_LIMIT_TOKEN: '1000/1d',
      HOOKLINE_RATE_LIMIT_ADDRESS: '1/1d',
      // Nothing is sent there: the endpoints that fail are held for longer.
      HOOKLINE_ALERT_CHAT_URL: 'https://chat.invalid/hook',
      HOOKLINE_ALERT_AFTER: '1h',
      // Nothing is signed here.
      HOOKLINE_LOG_WITNESSES: `${readWitnessSigner(newWitnessKey('witness.invalid')).verifier.text}@https://witness.invalid`,
    });
    client = await system.account();
    const register = async (status: number, more: Record<string, unknown> = {}): Promise<string> => {
      const receiver = await startReceiver({ handler: reply(status) });
      receivers.push(receiver);
      return (await client.register(receiver.url, more)).id;
    };
    const closed = await startReceiver();
    ids = [
      await register(200),
      await register(500, SMALL),
      await register(503, { ...SMALL, retry_schedule: ['100ms'] }),
      await register(200, SMALL),
      (await client.register(closed.url, { ...SMALL, rate_limit: 0.01 })).id,
    ];
    await closed.close();
    await client.request('POST', `/v18.0/endpoints/${ids[3]}/pause`);
    await client.purchase(purchaseOf(1));
    await Promise.all(Array.from({ length: EVENTS }, () => client.purchase(purchaseOf(500))));
    await client.purchase(purchaseOf(2));
    await client.request('GET', '/v18.0/deliveries?limit=0');
    for (const _ of [1, 2]) await fetch(`${system.url}/v18.0/me`);
  });
  after(async () => {
    for (const receiver of receivers) await receiver.close();
    await system.stop();
  });

  it('counts deliveries by outcome, attempts by answer, and how long both take [world]', async () => {
    const { samples } = await until(
      () => scrape(system.url),
      ({ samples }) =>
        samples.get('hookline_deliveries_closed_total{status="exhausted"}') === 2 &&
        samples.get('hookline_deliveries_closed_total{status="delivered"}') === EVENTS + 2 &&
        [...MADE].every(([name, count]) => (samples.get(name) ?? 0) >= count),
    );
    const value = (name: string) => samples.get(name);
    for (const [name, count] of MADE) assert.equal(value(name), count, name);
    const sum = (prefix: string) =>
      [...samples].filter(([name]) => name.startsWith(prefix)).reduce((total, [, count]) => total + count, 0);
    assert.equal(sum('hookline_attempt_duration_seconds_count'), EVENTS + 2 + 7);
    assert.equal(value('hookline_publish_to_arrival_seconds_count{attempt="first"}'), EVENTS + 2);
    assert.ok(sum('hookline_start_call_duration_seconds_count') > 0);
    assert.ok((value('hookline_group_size_sum') ?? 0) <= EVENTS + 12);
  });

  it('counts requests by operation and status, and what the limits refused', async () => {
    const { samples } = await scrape(system.url);
    const value = (name: string) => samples.get(name);
    assert.equal(value('hookline_http_requests_total{operation="acceptEvent",status="202"}'), EVENTS + 2);
    assert.equal(value('hookline_http_requests_total{operation="listDeliveries",status="400"}'), 1);
    assert.equal(value('hookline_http_requests_total{operation="none",status="401"}'), 1);
    assert.equal(value('hookline_http_requests_total{operation="none",status="429"}'), 1);
    assert.equal(value('hookline_http_request_duration_seconds_count{operation="acceptEvent"}'), EVENTS + 2);
    assert.equal(value('hookline_rate_limited_requests_total{policy="address-1d"}'), 1);
    assert.ok(![...samples.keys()].some((name) => name.includes('/metrics') || name.includes('healthz')));
  });

  it('has from the start what the dashboard and the alert rules read, with 0 for what has not happened', async () => {
    // Those of the backlog are absent after a reading that failed.
    const { samples } = await until(
      () => scrape(system.url),
      ({ samples }) => samples.has('hookline_backlog_complete'),
    );
    const { paths } = JSON.parse(await readFile('docs/openapi.json', 'utf8')) as {
      paths: Record<string, Record<string, { operationId: string; responses: object }>>;
    };
    const zero = ['hookline_attempts_total{outcome="blocked",response="blocked_address"}'];
    for (const { operationId, responses } of Object.values(paths).flatMap((path) => Object.values(path)))
      for (const status of [...Object.keys(responses).filter((one) => one < '400'), '500', '503'])
        zero.push(`hookline_http_requests_total{operation="${operationId}",status="${status}"}`);
    for (const policy of ['token-1d', 'login-15m'])
      zero.push(`hookline_rate_limited_requests_total{policy="${policy}"}`);
    for (const name of zero) assert.ok(samples.has(name), name);
    for (const { name, labels } of usedMetrics().filter((used) => used.name.startsWith('hookline'))) {
      const series = [...samples.keys()].filter((sample) => sample.replace(/\{.*/, '') === name);
      assert.ok(series.length > 0, name);
      for (const label of labels)
        assert.ok(
          series.every((one) => one.includes(`${label}="`)),
          `${name} ${label}`,
        );
    }
  });

  it('shows the backlog and the open incidents of the installation', async () => {
    // Other tests of this run have deliveries in the same namespace.
    const { samples } = await until(
      () => scrape(system.url),
      ({ samples }) => (samples.get('hookline_backlog_deliveries{status="parked"}') ?? 0) >= 2,
    );
    assert.ok((samples.get('hookline_backlog_deliveries{status="retrying"}') ?? 0) >= 2);
    assert.ok((samples.get('hookline_backlog_oldest_seconds') ?? 0) > 0);
    assert.ok((samples.get('hookline_incidents_open') ?? 0) >= 1);
    assert.equal(samples.get('hookline_backlog_complete'), 1);
    assert.ok(samples.has('hookline_backlog_overdue'));
    assert.ok(samples.has('nodejs_eventloop_lag_p99_seconds'));
  });

  it('has no label that names something of an account', async () => {
    const { text } = await scrape(system.url);
    for (const id of [...ids, client.accountId, client.keyId]) assert.ok(!text.includes(id));
    assert.doesNotMatch(text, /(evt|ep|acct|dlv|key)_[0-9A-Z]{26}|localhost|purchase/);
  });

  it('is described by docs/metrics.md: every metric with its type and labels, and no other', async () => {
    const document = await readFile('docs/metrics.md', 'utf8');
    const rows = [...document.matchAll(/^\| `(hookline_\w+)` \| (\w+) \| (.*?) \| (.+?) \| `(.+)` \|$/gm)];
    const described = rows.map(([, name = '', type, labels = '', , query = '']) => {
      assert.ok(query.includes(name), `the example of ${name} is of another metric`);
      return { name, type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label).sort() };
    });
    // Those of the backlog are absent after a reading that failed.
    const { text } = await until(
      () => scrape(system.url),
      ({ samples }) => samples.has('hookline_backlog_complete'),
    );
    const existing = [...metricsIn(text)].map(([name, { type, labels }]) => ({
      name,
      type,
      labels: [...labels].sort(),
    }));
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
    assert.deepEqual(described.sort(byName), existing.sort(byName));
  });
});

describe('metrics of the backlog', () => {
  it('are absent while it cannot be read, and that is counted', async () => {
    const registry = new Registry();
    let isDown = false;
    const fail = async () => {
      if (isDown) throw new Error('out of reach');
    };
    const open = { at: Date.now(), overdueBefore: 0, deliveries: [], isComplete: true };
    const refresh = createBacklogMetrics(
      registry,
      { read: () => fail().then(() => open), openIncidents: () => fail().then(() => 3) },
      0,
    );
    const unknown = /^hookline_(incidents|backlog_(deliveries|overdue|oldest|complete))/m;
    assert.doesNotMatch(await registry.metrics(), unknown);
    const shown = async () => {
      await refresh();
      return registry.metrics();
    };
    await until(shown, (text) => /^hookline_incidents_open 3$/m.test(text));
    isDown = true;
    const text = await until(shown, (text) => /^hookline_backlog_read_failures_total 1$/m.test(text));
    assert.doesNotMatch(text, unknown);
    isDown = false;
    await until(shown, (text) => /^hookline_backlog_deliveries\{status="parked"\} 0$/m.test(text));
  });

  it('are there without the open incidents while only Temporal is away', async () => {
    const registry = new Registry();
    const open = { at: Date.now(), overdueBefore: 0, deliveries: [], isComplete: true };
    const counts = [3, undefined];
    const reader = { read: async () => open, openIncidents: async () => counts.shift() };
    const refresh = createBacklogMetrics(registry, reader, 0);
    await until(
      () => refresh().then(() => registry.metrics()),
      (text) => /^hookline_backlog_complete 1$/m.test(text) && !/^hookline_incidents_open /m.test(text),
    );
    assert.match(await registry.metrics(), /^hookline_backlog_read_failures_total 0$/m);
    assert.deepEqual(counts, []);
  });
});

describe('a process of its own', () => {
  it("has the metrics of Temporal's SDK in the same place, and writes its tallies before it ends [world]", async () => {
    const environment = await testEnvironment();
    const database = await connectDatabase(environment['MONGODB_URI'] ?? '');
    const receiver = await startReceiver();
    const temporal = await connectTemporal(requireServers(loadSettings(environment)).temporal);
    const service = await startServiceProcess(environment);
    try {
      const client = await newAccount(database, service.url);
      await client.register(receiver.url);
      await client.purchase();
      // The SDK has no series for what has not happened yet, such as a workflow task that fails.
      const unknown = await temporal.client.workflow.start('unknown', {
        taskQueue: environment['HOOKLINE_TASK_QUEUE'] ?? '',
        workflowId: `unknown-${client.accountId}`,
      });
      const { samples } = await until(
        () => scrape(service.url),
        ({ text, samples }) =>
          samples.get('hookline_deliveries_closed_total{status="delivered"}') === 1 &&
          text.includes('\ntemporal_workflow_task_execution_failed{'),
      );
      await unknown.terminate();
      const names = new Set([...samples.keys()].map((name) => name.replace(/\{.*/, '')));
      assert.ok(names.has('temporal_request_latency_bucket'), [...names].join());
      // What the dashboard and the alert rules read besides the metrics of Hookline itself.
      for (const { name, labels } of usedMetrics().filter((used) => !used.name.startsWith('hookline'))) {
        const series = [...samples.keys()].filter((sample) => sample.replace(/\{.*/, '') === name);
        assert.ok(series.length > 0, name);
        for (const label of labels)
          assert.ok(
            series.some((one) => one.includes(`${label}="`)),
            `${name} ${label}`,
          );
      }
      service.terminate();
      assert.equal(await service.exited, 0);
      const spans = spansWithin('1h', Date.now() - 3_600_000, Date.now());
      const rows = await database.tallies.read(client.accountId, { resolution: '1h', spans });
      assert.deepEqual(
        rows.flatMap(({ slots }) => Object.values(slots)),
        [{ delivered: 1, attempts: 1 }],
      );
    } finally {
      await service.kill();
      await receiver.close();
      await temporal.close();
      await database.close();
    }
  });
});
