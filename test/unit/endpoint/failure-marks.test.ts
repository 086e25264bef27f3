import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { BACKOFF_AFTER_FAILURES } from '../../../src/domain/endpoint/incident.js';
import { Incidents, MARKED_AFTER_MS } from '../../../src/temporal/write/incidents.js';
import { promised } from '../../support/promised.js';
import { until } from '../../support/until.js';

const ENDPOINT = { account_id: 'acct_1', endpoint_id: 'ep_1' };
const PROBE_MS = 5_000;

describe('what a process knows of failures before the endpoint is marked', () => {
  const start = Date.parse('2026-11-24T12:00:00Z');
  /** Counts of failures as they were reported, and successes. */
  let reported: (number | 'success')[];
  let incidents: Incidents;
  /** Temporal answers a report only when it is told to. */
  let isSlow: boolean;
  let answer: () => void;

  beforeEach(() => {
    mock.timers.enable({ apis: ['Date'], now: start });
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
    incidents = new Incidents(settings);
  });
  afterEach(() => mock.timers.reset());

  const fail = async (times: number, began = Date.now()) => {
    for (let time = 0; time < times; time += 1) await incidents.failed(ENDPOINT, 'answered 503', began);
  };
  const mark = () => incidents.mark(ENDPOINT.endpoint_id);

  it('is nothing until there are so many that deliveries wait, and then as the mark will be', async () => {
    await fail(BACKOFF_AFTER_FAILURES - 1);
    assert.equal(mark(), undefined);
    mock.timers.tick(100);
    await fail(1);
    assert.deepEqual(mark(), {
      since: new Date(start).toISOString(),
      backoff_until: new Date(start + PROBE_MS).toISOString(),
    });
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
    assert.equal(incidents.mark('ep_2'), undefined);
  });

  it('is left to the mark after some seconds, however many more there are', async () => {
    await fail(BACKOFF_AFTER_FAILURES);
    mock.timers.tick(MARKED_AFTER_MS);
    assert.ok(mark());
    await fail(BACKOFF_AFTER_FAILURES);
    mock.timers.tick(1);
    assert.equal(mark(), undefined);
  });

  it('ends with a success, also for attempts that began before it', async () => {
    await fail(BACKOFF_AFTER_FAILURES);
    const began = Date.now();
    mock.timers.tick(10);
    void incidents.succeeded(ENDPOINT, Date.now());
    assert.equal(mark(), undefined);
    await fail(2 * BACKOFF_AFTER_FAILURES, began);
    assert.equal(mark(), undefined);
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
