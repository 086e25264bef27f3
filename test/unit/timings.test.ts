import assert from 'node:assert/strict';
import { probeWait } from '../../src/domain/endpoint/incident.js';
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
  });
});
