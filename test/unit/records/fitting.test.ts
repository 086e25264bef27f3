import assert from 'node:assert/strict';
import { firstThatFit } from '../../../src/domain/records/fitting.js';

describe('the first items that fit', () => {
  // With quotation marks and a comma: 5, 7 and 5 bytes.
  it('are all of them, or as many as their JSON allows', () => {
    const items = ['aa', 'öö', 'cc'];
    assert.deepEqual(firstThatFit(items, 17), items);
    assert.deepEqual(firstThatFit(items, 16), items.slice(0, 2));
    assert.deepEqual(firstThatFit(items, 12), items.slice(0, 2));
    assert.deepEqual(firstThatFit(items, 11), items.slice(0, 1));
    assert.deepEqual(firstThatFit(items, 0), []);
  });
});
