import assert from 'node:assert/strict';
import { warnOfShortWaits } from '../../src/bin/service/short-waits.js';
import { loadSettings } from '../../src/config/load.js';
import { probeWait } from '../../src/domain/endpoint/breaker/circuit-breaker.js';
import { LEASE_MS } from '../../src/domain/listener/listener.js';
import { scaledTimings, TIMINGS, timingsOfInput } from '../../src/domain/timings.js';

describe('timings', () => {
  it('are as usual unless they are scaled, and then no input of a workflow names them', () => {
    assert.equal(scaledTimings(1), TIMINGS);
    assert.deepEqual(timingsOfInput(TIMINGS), {});
  });

  it('are all shorter in the same proportion, whole milliseconds, and never none', () => {
    const scaled = scaledTimings(0.2);
    assert.deepEqual(scaled.release_passes_ms, [600, 5_400]);
    assert.equal(scaled.deletion_settles_ms, 2_000);
    assert.deepEqual(timingsOfInput(scaled), { timings: scaled });
    const least = scaledTimings(1e-9);
    assert.deepEqual(new Set(Object.values(least).flat()), new Set([1]));
  });

  it('have the first probes of an endpoint 5, 10, 20 and 40 s after its incident began', () => {
    const waits = [0, 1, 2, 3].map((probes) => probeWait(probes, 60_000));
    const times = waits.map((_, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait));
    assert.deepEqual(times, [5_000, 10_000, 20_000, 40_000]);
    assert.equal(probeWait(3, 60_000, scaledTimings(0.2)), 4_000);
  });

  it('keep the order that rules rely on', () => {
    // Whoever deletes a key looks again when no process remembers it.
    assert.ok(TIMINGS.keys_remembered_ms > TIMINGS.data_key_lifetime_ms);
    // A release rests as long as an incident waits before its first probe.
    assert.equal(TIMINGS.release_rest_ms, TIMINGS.early_probes_ms[0]);
    // An account that is deleted takes no more once no process remembers it, and none of its tokens.
    assert.ok(TIMINGS.deletion_settles_ms > TIMINGS.resource_lifetime_ms + TIMINGS.token_lifetime_ms);
    // A process loses a stream only if several renewals fail.
    assert.ok(LEASE_MS >= 3 * TIMINGS.listener_renewal_ms);
  });

  it('that are shorter are warned of when a service starts', () => {
    const warnings: unknown[] = [];
    const logger = { warn: (message: unknown) => void warnings.push(message) };
    warnOfShortWaits(scaledTimings(1), logger);
    assert.deepEqual(warnings, []);
    warnOfShortWaits(loadSettings({ HOOKLINE_TEST_TIME_SCALE: '0.5' }).HOOKLINE_TEST_TIME_SCALE, logger);
    assert.match(String(warnings), /^HOOKLINE_TEST_TIME_SCALE is set/);
  });
});
