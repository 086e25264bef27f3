import assert from 'node:assert/strict';
import { derivedId, idPattern } from '../../../src/domain/basics/ids.js';
import { cutPart } from '../../../src/temporal/read/replay/replay-page.js';

describe('the parts of a window', () => {
  const all = ['e', 'b', 'd', 'a', 'c'];
  const cut = (after: string | undefined, limit: number, items = all) =>
    cutPart(items, (one) => one, { after, limit });

  it('are in order, and together everything once, also if new items appear behind and in front', () => {
    assert.deepEqual(cut(undefined, 2), { part: ['a', 'b'], after: 'b' });
    assert.deepEqual(cut('b', 2, ['0', 'b1', ...all]), { part: ['b1', 'c'], after: 'c' });
    assert.deepEqual(cut('c', 2), { part: ['d', 'e'] });
    assert.deepEqual(cut('c', 2, ['d', 'e']), { part: ['d', 'e'] });
    assert.deepEqual(cut('e', 2), { part: [] });
  });
});

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
