import assert from 'node:assert/strict';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Activities } from '../../../activities/index.js';
import { newId } from '../../../src/domain/basics/ids.js';
import {
  BACKOFF_AFTER_FAILURES,
  type FailingMark,
} from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import type { EndpointKey } from '../../../src/domain/endpoint/endpoint-key.js';
import { incidentWorkflowId } from '../../../src/domain/ledger/workflow-ids.js';
import { MOST_FAILURE_REPORTS } from '../../../src/temporal/write/incidents.js';
import type { endpointIncident } from '../../../workflows/index.js';
import { reporter } from '../../support/parts/incidents.js';
import { startStubWorker } from '../../support/parts/stub-worker.js';
import { promised } from '../../support/promised.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';
import { until } from '../../support/until.js';

const PROCESSES = 4;
/** Below the number that opens a backoff, in each process. */
const FAILURES_EACH = 4;

/** Activities of incidents that these tests look at. */
type Stub = Pick<Activities, 'markEndpoint' | 'openIncident' | 'closeIncident' | 'releaseEndpoint'>;
const UNUSED: Partial<Activities> = {
  disableEndpoint: async () => true,
  emitOperationalEvent: async () => {},
  probeEndpoint: async () => {},
};

describe('failures that several processes count', () => {
  let system: SharedSystem;
  const stops: (() => Promise<void>)[] = [];
  /**
   * Stubs of what incidents call, by endpoint. Tests whose worker runs from the beginning share one: each costs half a
   * second of processor.
   */
  const stubs = new Map<string, Stub>();
  const stubOf = ({ endpoint_id }: EndpointKey) => stubs.get(endpoint_id) ?? assert.fail(endpoint_id);
  const shared = `stub-${newId('endpoint')}`;
  before(async () => {
    system = await sharedSystem();
    stops.push(
      await startStubWorker(system.temporal, shared, {
        ...UNUSED,
        markEndpoint: (change) => stubOf(change).markEndpoint(change),
        openIncident: (change) => stubOf(change).openIncident(change),
        closeIncident: (closing) => stubOf(closing).closeIncident(closing),
        releaseEndpoint: (release) => stubOf(release).releaseEndpoint(release),
      }),
    );
  });
  after(async () => {
    for (const stop of stops) await stop();
  });

  /**
   * The processes of an installation, as far as they report failures, and an endpoint. Nothing happens before a worker
   * is started.
   */
  async function idleProcesses(
    count: number,
    closeIncident: Activities['closeIncident'] = async () => {},
    taskQueue = `stub-${newId('endpoint')}`,
  ) {
    const endpoint = { account_id: newId('account'), endpoint_id: newId('endpoint') };
    const marks: (FailingMark | null)[] = [];
    const releases: unknown[] = [];
    const stub: Stub = {
      async markEndpoint({ failing }) {
        marks.push(failing);
        return 'active';
      },
      async openIncident({ failing }) {
        marks.push(failing);
        return 'active';
      },
      closeIncident,
      async releaseEndpoint(released) {
        releases.push(released);
      },
    };
    stubs.set(endpoint.endpoint_id, stub);
    const startWorker = async () => {
      stops.push(await startStubWorker(system.temporal, taskQueue, { ...UNUSED, ...stub }));
    };
    const opened: EndpointKey[] = [];
    const mark = async (one: EndpointKey) => void opened.push(one);
    const settings = { client: system.temporal.client, taskQueue, disableAfterMs: 3_600_000, mark };
    const reporters = Array.from({ length: count }, () => reporter({ ...settings, probeIntervalMs: 4_000 }));
    const all = reporters.map(({ incidents }) => incidents);
    const [first, second] = all;
    assert.ok(first && second);
    return { all, first, second, opened, endpoint, marks, releases, startWorker };
  }

  /** The same, with a worker. */
  const processes = (count: number) => idleProcesses(count, undefined, shared);

  it('are all in the incident, and open the backoff together: each process reports its first, and the rest by a timer', async () => {
    const { all, first, endpoint, marks } = await processes(PROCESSES);
    for (let count = 0; count < FAILURES_EACH; count += 1)
      await Promise.all(all.map((incidents) => incidents.failed(endpoint, 'got a 500 response', Date.now())));
    const open = await until(
      () => first.get(endpoint),
      (incident) => incident?.failures === PROCESSES * FAILURES_EACH,
    );
    assert.ok(open?.next_probe_at, 'new deliveries wait for a probe');
    await until(
      () => marks,
      (all) => all.some((mark) => mark?.backoff_until !== undefined),
    );
  });

  it('are not counted if an attempt that began later has succeeded', async () => {
    const { first, endpoint } = await processes(2);
    const began = Date.now();
    await first.failed(endpoint, 'got a 500 response', began);
    // Until it has run there is none to be seen, as when it is over.
    await until(
      () => first.get(endpoint),
      (incident) => incident !== undefined,
    );
    assert.equal(await first.succeeded(endpoint, began + 1), true);
    await until(
      () => first.get(endpoint),
      (incident) => incident === undefined,
    );
    await first.failed(endpoint, 'timed out', began);
    assert.equal(await first.get(endpoint), undefined);
    await first.failed(endpoint, 'got a 500 response', began + 2);
    await until(
      () => first.get(endpoint),
      (incident) => incident?.last_failure === 'got a 500 response',
    );
  });

  it('are counted after a success, also if the incident hears of both at once [world]', async () => {
    const { first, endpoint, startWorker } = await idleProcesses(2);
    const began = Date.now();
    await first.failed(endpoint, 'got a 500 response', began);
    await first.succeeded(endpoint, began + 1);
    await first.failed(endpoint, 'got a 503 response', began + 2);
    await startWorker();
    const open = await until(
      () => first.get(endpoint),
      (incident) => incident !== undefined,
    );
    assert.equal(open?.last_failure, 'got a 503 response');
  });

  it('are known to the incident before it ends, if deliveries wait because of them [world]', async () => {
    const releases: boolean[] = [];
    const { first, opened, endpoint, startWorker } = await idleProcesses(2, async ({ release }) => {
      releases.push(release);
    });
    await first.failed(endpoint, 'got a 500 response', Date.now());
    const reports = [];
    for (let failures = 1; failures < BACKOFF_AFTER_FAILURES; failures += 1)
      reports.push(first.failed(endpoint, 'got a 500 response', Date.now()));
    assert.deepEqual(opened, [endpoint], 'new deliveries wait');
    await first.succeeded(endpoint, Date.now());
    await Promise.all(reports);
    await startWorker();
    await until(
      () => releases,
      ({ length }) => length > 0,
    );
    assert.deepEqual(releases, [true]);
  });

  it('that open the circuit breaker after the incident of most of them has ended have one that closes it', async () => {
    const releases: boolean[] = [];
    const { all, first, second, opened, endpoint } = await idleProcesses(
      3,
      async ({ release }) => void releases.push(release),
      shared,
    );
    for (let failures = 1; failures < BACKOFF_AFTER_FAILURES; failures += 1)
      await first.failed(endpoint, 'got a 500 response', Date.now());
    await until(
      () => second.get(endpoint),
      (incident) => incident?.failures === BACKOFF_AFTER_FAILURES - 1,
    );
    assert.equal(await second.succeeded(endpoint, Date.now()), true);
    await until(
      () => first.get(endpoint),
      (incident) => incident === undefined,
    );
    await first.failed(endpoint, 'got a 500 response', Date.now());
    assert.deepEqual(opened, [endpoint]);
    await until(
      () => first.get(endpoint),
      (incident) => incident?.next_probe_at !== undefined,
    );
    assert.equal(await all[2]?.succeeded(endpoint, Date.now(), true), true);
    await until(
      () => releases,
      ({ length }) => length === 2,
    );
    assert.deepEqual(releases, [false, true]);
  });

  it('are not reported to an incident that is over, nor open another', async () => {
    const { first, second, endpoint } = await processes(2);
    await first.failed(endpoint, 'got a 500 response', Date.now());
    await first.failed(endpoint, 'got a 500 response', Date.now());
    assert.equal(await second.succeeded(endpoint, Date.now()), true);
    await until(
      () => first.get(endpoint),
      (incident) => incident === undefined,
    );
    // The next failure finds out that the process's count is of an incident that is over.
    await until(
      async () => {
        await first.failed(endpoint, 'got a 500 response', Date.now());
        return first.get(endpoint);
      },
      (incident) => incident !== undefined,
    );
  });

  it('end by a success of a process that has just found no incident', async () => {
    const { first, second, endpoint } = await processes(2);
    assert.equal(await first.succeeded(endpoint, Date.now()), false);
    await second.failed(endpoint, 'got a 500 response', Date.now());
    assert.equal(await first.succeeded(endpoint, Date.now(), true), true);
    await until(
      () => second.get(endpoint),
      (incident) => incident === undefined,
    );
  });

  it('end the incident once, though a second process reports a success meanwhile', async () => {
    const closed: string[] = [];
    const { first, second, endpoint, finish, handle } = await whileClosing(closed);
    await second.succeeded(endpoint, Date.now());
    finish();
    assert.equal((await handle.result()).outcome, 'recovered');
    assert.deepEqual(closed.length, 1);
    assert.equal(await first.get(endpoint), undefined);
  });

  it('that came before a success, while the end of the incident was noted, open no other', async () => {
    const { first, second, endpoint, finish, handle } = await whileClosing();
    await first.failed(endpoint, 'got a 503 response', Date.now());
    await second.succeeded(endpoint, Date.now());
    finish();
    assert.equal((await handle.result()).outcome, 'recovered');
    assert.equal(await first.get(endpoint), undefined);
  });

  it('that had deliveries wait, and came before a success, have these released, though the end of the incident was noted meanwhile', async () => {
    const { second, endpoint, releases, finish, handle } = await whileClosing();
    for (let failures = 0; failures < BACKOFF_AFTER_FAILURES; failures += 1)
      await second.failed(endpoint, 'got a 503 response', Date.now());
    await second.succeeded(endpoint, Date.now());
    finish();
    assert.equal((await handle.result()).outcome, 'recovered');
    assert.deepEqual(releases, [endpoint]);
    assert.equal(await second.get(endpoint), undefined);
  });

  it('are over when the endpoint is gone, also if it was while the end of the incident was noted', async () => {
    const { first, endpoint, finish, handle } = await whileClosing();
    await first.gone(endpoint, 'evt_1:1', 1);
    finish();
    assert.equal((await handle.result()).outcome, 'disabled');
  });

  it('begin their incident, whenever it hears of them', async () => {
    const { first, endpoint, marks, startWorker } = await idleProcesses(2);
    await first.failed(endpoint, 'got a 500 response', Date.now());
    const { priority, startTime } = await handleOf(endpoint).describe();
    assert.equal(priority?.priorityKey, 4, 'the tasks of deliveries, which have 3, come first');
    await startWorker();
    await until(
      () => marks,
      ({ length }) => length > 0,
    );
    const since = Date.parse(marks[0]?.since ?? '');
    assert.ok(since <= startTime.getTime(), `${since} is not before ${startTime.getTime()}`);
  });

  it('are reported one after another where many endpoints begin to fail at once: together with those that follow, and not if the endpoint recovers first [world]', async () => {
    const { first, endpoint, startWorker } = await idleProcesses(2);
    const endpoints = others(endpoint, 3 * MOST_FAILURE_REPORTS);
    const [recovering, failingOn] = endpoints.slice(-2);
    assert.ok(recovering && failingOn);
    const reports = endpoints.map((one) => first.failed(one, 'got a 500 response', Date.now()));
    const recovered = first.succeeded(recovering, Date.now() + 1);
    reports.push(first.failed(failingOn, 'got a 503 response', Date.now()));
    await Promise.all(reports);
    assert.equal(await recovered, false);
    await assert.rejects(handleOf(recovering).describe(), WorkflowNotFoundError);
    const { events } = await handleOf(failingOn).fetchHistory();
    assert.equal(events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length, 1);
    await startWorker();
    const open = await until(
      () => first.get(failingOn),
      (incident) => incident !== undefined,
    );
    assert.deepEqual([open?.failures, open?.last_failure], [2, 'got a 503 response']);
  });

  it('of an endpoint whose deliveries are about to wait are reported before those of endpoints that failed once', async () => {
    const { first, endpoint } = await idleProcesses(2);
    const endpoints = others(endpoint, 4 * MOST_FAILURE_REPORTS);
    const urgent = endpoints.at(-1) ?? assert.fail();
    const order: string[] = [];
    const fail = async (one: EndpointKey) => {
      await first.failed(one, 'got a 500 response', Date.now());
      order.push(one.endpoint_id);
    };
    const reports = endpoints.map(fail);
    for (let failures = 1; failures < BACKOFF_AFTER_FAILURES; failures += 1)
      await first.failed(urgent, 'got a 503 response', Date.now());
    await Promise.all(reports);
    const place = order.indexOf(urgent.endpoint_id);
    assert.ok(place < 2 * MOST_FAILURE_REPORTS, `it was number ${place}`);
    const { events } = await handleOf(urgent).fetchHistory();
    assert.equal(events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length, 1);
  });

  it('that wait to be reported are dropped when the process stops', async () => {
    const { first, endpoint } = await idleProcesses(2);
    const endpoints = others(endpoint, 2 * MOST_FAILURE_REPORTS);
    const reports = endpoints.map((one) => first.failed(one, 'got a 500 response', Date.now()));
    await first.stop();
    await Promise.all(reports);
    const last = endpoints.at(-1) ?? assert.fail();
    await assert.rejects(handleOf(last).describe(), WorkflowNotFoundError);
  });

  /** More endpoints of the same account. */
  const others = (endpoint: EndpointKey, count: number): EndpointKey[] =>
    Array.from({ length: count }, () => ({ ...endpoint, endpoint_id: newId('endpoint') }));

  const handleOf = ({ account_id, endpoint_id }: EndpointKey) =>
    system.temporal.client.workflow.getHandle<typeof endpointIncident>(
      incidentWorkflowId(account_id, endpoint_id),
    );

  /**
   * An incident whose end is being noted until `finish` is called.
   *
   * @param closed the times of its ends, as they are noted
   */
  async function whileClosing(closed: string[] = []) {
    const { promise: finished, resolve: finish } = promised();
    const closeIncident: Activities['closeIncident'] = async ({ event }) => {
      closed.push(event.at);
      await finished;
    };
    const { first, second, endpoint, releases } = await idleProcesses(2, closeIncident, shared);
    await first.failed(endpoint, 'got a 500 response', Date.now());
    await first.succeeded(endpoint, Date.now());
    await until(
      () => closed,
      ({ length }) => length > 0,
    );
    return { first, second, endpoint, releases, finish, handle: handleOf(endpoint) };
  }
});
