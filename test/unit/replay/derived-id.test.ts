import assert from 'node:assert/strict';
import { derivedId, idPattern } from '../../../src/domain/basics/ids.js';

describe('an id that is derived from a name', () => {
  it('is the same on every repeat, valid, sorts by its time, and differs for other names', () => {
    const at = Date.parse('2026-01-31T12:00:00Z');
    const id = derivedId('change', at, 'rpl_1 dlv_1');
    assert.equal(derivedId('change', at, 'rpl_1 dlv_1'), id);
    assert.match(id, idPattern('change'));
    assert.ok(derivedId('change', at + 1, 'rpl_1 dlv_1') > id);
    const ids = Array.from({ length: 1_000 }, (_, index) => derivedId('change', at, `rpl_1 dlv_${index}`));
    assert.equal(new Set(ids).size, 1_000);
  });
});
