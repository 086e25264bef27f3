import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { EndpointConditions } from '../../../src/domain/endpoint/endpoint-conditions.js';
import { MARKED_AFTER_MS } from '../../../src/domain/endpoint/failure-count.js';
import { BACKOFF_AFTER_FAILURES } from '../../../src/domain/endpoint/incident.js';
import type { Incidents } from '../../../src/temporal/write/incidents.js';
import { clockOfEach } from '../../support/clock.js';
import { reporter } from '../../support/parts/incidents.js';
import { promised } from '../../support/promised.js';
import { until } from '../../support/until.js';

const ENDPOINT = { account_id: 'acct_1', endpoint_id: 'ep_1' };
const PROBE_MS = 5_000;

describe('what a process knows of failures before the endpoint is marked', () => {
  const start = Date.parse('2026-11-24T12:00:00Z');
  /** Counts of failures as they were reported, and successes. */
  let reported: (number | 'success')[];
  let incidents: Incidents;
  let conditions: EndpointConditions;
  /** Temporal answers a report only when it is told to. */
  let isSlow: boolean;
  let answer: () => void;

  clockOfEach(start);
  beforeEach(() => {
    reported = [];
    answer = () => {};
    const signalWithStart = async (_type: string, { signalArgs }: { signalArgs: [{ count: number }] }) => {
      reported.push(signalArgs[0].count);
      if (!isSlow) return;
      const { promise: answered, resolve } = promised();
      answer = resolve;
      await answered;
    };
    isSlow = false;
    const getHandle = () => ({ signal: async () => reported.push('success') });
    const client = { workflow: { signalWithStart, getHandle } } as unknown as Client;
    const settings = { client, taskQueue: 'q', disableAfterMs: 60_000, probeIntervalMs: PROBE_MS };
    ({ incidents, conditions } = reporter(settings));
  });

  const fail = async (times: number, began = Date.now()) => {
    for (let time = 0; time < times; time += 1) await incidents.failed(ENDPOINT, 'got a 503 response', began);
  };
  const held = (id = ENDPOINT.endpoint_id) => conditions.heldBack(id, undefined);

  it('is nothing until there are so many that deliveries wait', async () => {
    await fail(BACKOFF_AFTER_FAILURES - 1);
    assert.equal(held(), undefined);
    mock.timers.tick(100);
    await fail(1);
    assert.equal(held()?.since, new Date(start).toISOString());
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
    assert.equal(held('ep_2'), undefined);
  });

  it('is left to the mark after some seconds, however many more there are', async () => {
    await fail(BACKOFF_AFTER_FAILURES);
    mock.timers.tick(MARKED_AFTER_MS);
    assert.ok(held());
    await fail(BACKOFF_AFTER_FAILURES);
    mock.timers.tick(1);
    assert.equal(held(), undefined);
  });

  it('ends with a success, also for attempts that began before it', async () => {
    await fail(BACKOFF_AFTER_FAILURES);
    const began = Date.now();
    mock.timers.tick(10);
    void incidents.succeeded(ENDPOINT, Date.now());
    assert.equal(held(), undefined);
    await fail(2 * BACKOFF_AFTER_FAILURES, began);
    assert.equal(held(), undefined);
  });

  it('is reported at once also if the failures come while an earlier report is under way', async () => {
    isSlow = true;
    const first = fail(1);
    await until(
      () => reported,
      ({ length }) => length === 1,
    );
    await fail(BACKOFF_AFTER_FAILURES - 1);
    isSlow = false;
    answer();
    await first;
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
  });

  it('is reported also if the endpoint is forgotten while the report waits for its turn', async () => {
    const failures = fail(1);
    for (let index = 0; index < 10_000; index += 1)
      void conditions.take(`ep_other_${index}`, { isDirect: true });
    const later = fail(1);
    await Promise.all([failures, later]);
    assert.deepEqual(
      reported,
      [1, 1],
      'what came later is another count, which takes nothing from the first',
    );
  });

  it('is not reported once the endpoint has answered, also if it was forgotten meanwhile', async () => {
    const failures = fail(1);
    for (let index = 0; index < 10_000; index += 1)
      void conditions.take(`ep_other_${index}`, { isDirect: true });
    assert.equal(await incidents.succeeded(ENDPOINT, Date.now(), false, true), false);
    await failures;
    assert.deepEqual(reported, []);
  });

  it('has been reported before a success is', async () => {
    await fail(1);
    isSlow = true;
    const failures = fail(BACKOFF_AFTER_FAILURES - 1);
    await until(
      () => reported,
      ({ length }) => length === 2,
    );
    const success = incidents.succeeded(ENDPOINT, Date.now());
    await setImmediate();
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
    answer();
    await Promise.all([failures, success]);
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1, 'success']);
  });
});
