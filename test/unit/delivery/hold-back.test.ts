import assert from 'node:assert/strict';
import { holdBack } from '../../../src/domain/delivery/hold-back.js';

const NOW = Date.parse('2026-11-24T12:00:00.000Z');
const at = (ms: number) => new Date(NOW + ms).toISOString();

describe('what holds a first attempt back', () => {
  const failing = (backoffMs: number) => ({ since: at(-60_000), backoff_until: at(backoffMs) });

  it('is the wait for the next probe of a failing endpoint', () => {
    const held = holdBack([failing(20_000)], NOW, 0);
    assert.equal(held?.endpoint, 'failing');
    assert.equal(held.since, at(-60_000));
    assert.ok(Date.parse(held.look_again_at) > NOW + 20_000 + 60_000, 'long after it should have been told');
  });

  it('goes on while a probe that is due is being made', () => {
    assert.ok(holdBack([failing(0)], NOW, 0));
    assert.ok(holdBack([failing(-29_999)], NOW, 0));
  });

  it('ends when no probe was made for so long that nobody may be making one', () => {
    assert.equal(holdBack([failing(-30_000)], NOW, 0), undefined);
  });

  it('is nothing if the endpoint is not failing, or has failed only just now', () => {
    assert.equal(holdBack([undefined], NOW, 0), undefined);
    assert.equal(holdBack([{ since: at(-1) }], NOW, 0), undefined);
  });

  it('ends at different times for different deliveries', () => {
    const ends = [0, 0.5, 0.999].map((random) => holdBack([failing(0)], NOW, random)?.look_again_at);
    assert.equal(new Set(ends).size, 3);
  });
});
