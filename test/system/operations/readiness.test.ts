import assert from 'node:assert/strict';
import { connectTemporal } from '../../../src/temporal/server/connection.js';
import { prepareNamespace } from '../../../src/temporal/server/namespace.js';
import { PURCHASE } from '../../support/api-client.js';
import { startFreezingProxy } from '../../support/outside/freezing-proxy.js';
import { runHere } from '../../support/programs/command.js';
import { startServiceProcess } from '../../support/programs/process.js';
import { servers, temporalOfRun } from '../../support/servers.js';
import { startSystem, type TestSystem, testEnvironment } from '../../support/system.js';
import { until } from '../../support/until.js';

async function ready(url: string) {
  const response = await fetch(`${url}/readyz`);
  const body = (await response.json()) as { status: string; checks: Record<string, string> };
  return { ...body, code: response.status };
}

/** Message of `hookline serve` when it cannot start. */
async function refusal(overrides: Record<string, string>): Promise<string> {
  const environment = await testEnvironment(overrides);
  const failure = await startServiceProcess(environment).then(
    () => assert.fail('it started'),
    (error: Error) => error.message,
  );
  const said = failure.split('\n').filter((line) => line.startsWith('hookline: '));
  assert.equal(said.length, 1, failure);
  assert.ok(!failure.includes('    at '), failure);
  return said[0] ?? '';
}

describe('readiness [world]', () => {
  let system: TestSystem | undefined;
  afterEach(async () => {
    await system?.stop();
    system = undefined;
  });

  it('is denied until `hookline migrate` has made the indexes', async () => {
    system = await startSystem();
    const { url } = system;
    // Events are accepted once Temporal has been asked whether MongoDB was restored.
    const before = await until(
      () => ready(url),
      ({ checks }) => checks['events'] === 'ok',
    );
    assert.equal(before.code, 503);
    const checks = { mongodb: 'ok', temporal: 'ok', migrated: 'unavailable', events: 'ok', worker: 'ok' };
    assert.deepEqual(before.checks, checks);
    await runHere('migrate', system.environment);
    // It is asked at most once a second.
    await until(
      () => ready(url),
      ({ code }) => code === 200,
    );
  });

  it('of a worker is served at its port, with the metrics of what it does, and nothing else is', async () => {
    const environment = await testEnvironment();
    await runHere('migrate', environment);
    system = await startSystem(environment, 'worker');
    const { code, checks } = await ready(system.url);
    assert.equal(code, 200);
    assert.deepEqual(checks, { mongodb: 'ok', temporal: 'ok', migrated: 'ok', worker: 'ok' });
    assert.equal((await fetch(`${system.url}/healthz`)).status, 200);
    assert.equal((await fetch(`${system.url}/v18.0/events`)).status, 404);
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    assert.match(metrics, /^# TYPE hookline_attempt_duration_seconds histogram$/m);
    assert.match(metrics, /^nodejs_eventloop_lag_p99_seconds /m);
    assert.doesNotMatch(metrics, /hookline_http_requests_total|hookline_backlog/);
  });

  it('needs no Temporal where events are accepted meanwhile, and does where deliveries are made', async () => {
    const proxy = await startFreezingProxy(servers().temporalAddress);
    const environment = await testEnvironment({ TEMPORAL_ADDRESS: proxy.address });
    await runHere('migrate', environment);
    system = await startSystem(environment);
    const worker = await startSystem(environment, 'worker');
    try {
      const client = await system.account();
      proxy.freeze();
      const withoutTemporal = ({ checks }: { checks: Record<string, string> }) =>
        checks['temporal'] === 'unavailable';
      const { url } = system;
      const [served, worked] = await Promise.all(
        [url, worker.url].map((at) => until(() => ready(at), withoutTemporal)),
      );
      const checks = { mongodb: 'ok', temporal: 'unavailable', migrated: 'ok', worker: 'ok' };
      assert.deepEqual(served, { code: 200, status: 'degraded', checks: { ...checks, events: 'ok' } });
      assert.deepEqual(worked, { code: 503, status: 'unavailable', checks });
      assert.equal((await client.request('POST', '/v18.0/events/purchase', { raw: PURCHASE })).status, 202);
    } finally {
      proxy.thaw();
      await worker.stop();
      await system.stop();
      system = undefined;
      await proxy.close();
    }
  });

  it('cannot come about without servers, and `serve` says in one sentence what to do', async () => {
    const [noTemporal, noMongo, noNamespace] = await Promise.all([
      refusal({ TEMPORAL_ADDRESS: '127.0.0.1:1' }),
      refusal({ MONGODB_URI: 'mongodb://user:of-the-user@127.0.0.1:1/hookline' }),
      refusal({ TEMPORAL_NAMESPACE: 'never-made' }),
    ]);
    assert.match(
      noTemporal,
      /^hookline: Temporal cannot be reached at 127\.0\.0\.1:1\. Check TEMPORAL_ADDRESS/,
    );
    assert.match(noMongo, /^hookline: MongoDB cannot be reached at 127\.0\.0\.1:1\. Check MONGODB_URI/);
    assert.ok(!noMongo.includes('of-the-user'));
    assert.equal(
      noNamespace,
      'hookline: Temporal has no namespace "never-made". Run "hookline migrate", then start again.',
    );
  });

  it('needs search attributes, which `hookline migrate` adds', async () => {
    const temporal = await connectTemporal(temporalOfRun());
    const namespace = `bare-${Date.now()}`;
    await temporal.native.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    assert.match(
      await refusal({ TEMPORAL_NAMESPACE: namespace }),
      /^hookline: The namespace "bare-\d+" lacks the search attributes Hookline.+\. Run "hookline migrate"/,
    );
    const { temporalAddress: address } = servers();
    await prepareNamespace(temporal, { name: namespace, retentionDays: 1, address });
    await temporal.close();
  });
});
