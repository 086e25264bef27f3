import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { UNITS } from '../../../src/domain/basics/duration.js';
import {
  BACKOFF_AFTER_FAILURES,
  type FailingMark,
} from '../../../src/domain/endpoint/breaker/circuit-breaker.js';
import type { EndpointConditions } from '../../../src/domain/endpoint/breaker/endpoint-conditions.js';
import type { FailureReport } from '../../../src/domain/endpoint/breaker/incident.js';
import type { EndpointKey } from '../../../src/domain/endpoint/endpoint-key.js';
import { TIMINGS } from '../../../src/domain/timings.js';
import type { Incidents } from '../../../src/temporal/write/incidents.js';
import { attemptSucceeded } from '../../../workflows/messages.js';
import { clockOfEach } from '../../support/clock.js';
import { reporter } from '../../support/parts/incidents.js';
import { promised } from '../../support/promised.js';
import { until } from '../../support/until.js';

const ENDPOINT = { account_id: 'acct_1', endpoint_id: 'ep_1' };
const PROBE_MS = 5_000;

describe('the circuit breaker that a process opens', () => {
  const start = Date.parse('2026-11-24T12:00:00Z');
  /** Counts of failures as they were reported to an incident that they open if there is none, and other signals. */
  let reported: (number | 'success' | 'counted')[];
  /** Reports that say that the circuit breaker is open. */
  let opening: FailureReport[];
  let incidents: Incidents;
  let conditions: EndpointConditions;
  /** Circuit breakers as they were stored. */
  let marks: (FailingMark & EndpointKey)[];
  /** How long it takes to store one. */
  let storing: Promise<void>;
  /** Temporal answers a report only when it is told to. */
  let isSlow: boolean;
  let answer: () => void;

  clockOfEach(start);
  beforeEach(() => {
    reported = [];
    opening = [];
    marks = [];
    storing = Promise.resolve();
    answer = () => {};
    const signalWithStart = async (_type: string, { signalArgs }: { signalArgs: [FailureReport] }) => {
      const [report] = signalArgs;
      reported.push(report.count);
      if (report.opens_breaker) opening.push(report);
      if (!isSlow) return;
      const { promise: answered, resolve } = promised();
      answer = resolve;
      await answered;
    };
    isSlow = false;
    // What is left of one test is reported by a timer, maybe during another.
    const told = reported;
    const getHandle = () => ({
      signal: async (signal: unknown) => told.push(signal === attemptSucceeded ? 'success' : 'counted'),
    });
    const client = { workflow: { signalWithStart, getHandle } } as unknown as Client;
    const mark = async (endpoint: EndpointKey, failing: FailingMark) => {
      await storing;
      marks.push({ ...endpoint, ...failing });
    };
    const settings = { client, taskQueue: 'q', disableAfterMs: 60_000, probeIntervalMs: PROBE_MS, mark };
    ({ incidents, conditions } = reporter(settings));
  });

  const fail = async (times: number, began = Date.now(), isMarked = false) => {
    for (let time = 0; time < times; time += 1)
      await incidents.failed(ENDPOINT, 'got a 503 response', began, undefined, isMarked);
  };
  const iso = (ms: number) => new Date(start + ms).toISOString();

  it('is stored with the failure that has deliveries wait, once, until the first probe', async () => {
    await fail(BACKOFF_AFTER_FAILURES - 1);
    mock.timers.tick(100);
    assert.deepEqual(marks, []);
    await fail(BACKOFF_AFTER_FAILURES);
    assert.deepEqual(marks, [{ ...ENDPOINT, since: iso(0), backoff_until: iso(PROBE_MS) }]);
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
    assert.deepEqual(
      opening.map(({ count }) => count),
      [BACKOFF_AFTER_FAILURES - 1],
      'the incident hears that it is to close it, whatever it has counted',
    );
  });

  it('has an incident, though that of the failures before has ended when the report of the rest is due', async () => {
    mock.timers.reset();
    mock.timers.enable({ apis: ['Date', 'setTimeout'], now: start });
    const turns = async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        mock.timers.tick(1);
        await setImmediate();
      }
    };
    const failures = fail(BACKOFF_AFTER_FAILURES - 1);
    await turns();
    await failures;
    // The timer only counts in an open incident. Before its report has its turn, the breaker is opened.
    mock.timers.tick(TIMINGS.report_soon_ms);
    await fail(1);
    await turns();
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
    assert.equal(opening.length, 1);
    assert.equal(marks.length, 1);
  });

  it('is not opened by failures before a success that another process has seen: the mark that they found is gone', async () => {
    await fail(1);
    await fail(BACKOFF_AFTER_FAILURES - 2, Date.now(), true);
    mock.timers.tick(UNITS.m);
    await fail(1);
    assert.deepEqual(marks, []);
    await fail(BACKOFF_AFTER_FAILURES - 1);
    assert.equal(marks.length, 1, 'the next failures in a row');
  });

  it('is opened by failures of which some have read the endpoint before it was marked', async () => {
    await fail(1, Date.now(), true);
    mock.timers.tick(1_000);
    await fail(BACKOFF_AFTER_FAILURES - 1);
    assert.equal(marks.length, 1);
  });

  it('is not opened by attempts that began before one that has succeeded', async () => {
    await fail(BACKOFF_AFTER_FAILURES - 1);
    const began = Date.now();
    mock.timers.tick(10);
    void incidents.succeeded(ENDPOINT, Date.now());
    await fail(2 * BACKOFF_AFTER_FAILURES, began);
    assert.deepEqual(marks, []);
    await fail(BACKOFF_AFTER_FAILURES, Date.now() + 1);
    assert.equal(marks.length, 1, 'the next failures in a row');
  });

  it('is stored before a success is reported, which closes it', async () => {
    const { promise, resolve } = promised();
    storing = promise;
    await fail(BACKOFF_AFTER_FAILURES);
    const success = incidents.succeeded(ENDPOINT, Date.now());
    await setImmediate();
    assert.ok(!reported.includes('success'));
    resolve();
    await success;
    assert.equal(reported.at(-1), 'success');
    assert.equal(marks.length, 1);
  });

  it('is left to the incident if it cannot be stored', async () => {
    storing = Promise.reject(new Error('MongoDB is away'));
    await fail(BACKOFF_AFTER_FAILURES);
    assert.deepEqual(reported, [1, BACKOFF_AFTER_FAILURES - 1]);
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
