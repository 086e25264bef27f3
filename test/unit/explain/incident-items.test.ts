import assert from 'node:assert/strict';
import { incidentItems } from '../../../src/domain/explain/incident-items.js';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

describe('incidents in a timeline', () => {
  it('tell when they began and how they ended, within its period', () => {
    const incidents = [
      { began_at: at(9) },
      { began_at: at(5), ended_at: at(7), outcome: 'disabled' as const },
      { began_at: at(1), ended_at: at(3), outcome: 'recovered' as const },
    ];
    const texts = incidentItems(incidents, at(2), at(8)).map((item) => [new Date(item.at), item.text]);
    assert.deepEqual(texts, [
      [at(5), 'The endpoint began to fail: an incident opened.'],
      [at(7), 'The endpoint was disabled, because it had failed for too long: its incident ended.'],
      [at(3), 'The endpoint responded again: its incident ended.'],
    ]);
  });
});
