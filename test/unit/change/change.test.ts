import assert from 'node:assert/strict';
import { changedPointers } from '../../../src/domain/change/change.js';

describe('what is different between two versions', () => {
  it('is named by field, and by entry of fields that are objects', () => {
    const before = { name: 'a', kinds: ['x'], metadata: { same: '1', other: '2', gone: '3' }, kept: null };
    const after = { name: 'b', kinds: ['x', 'y'], metadata: { same: '1', other: '3', new: '4' }, kept: null };
    assert.deepEqual(changedPointers(before, after), [
      '/name',
      '/kinds',
      '/metadata/other',
      '/metadata/gone',
      '/metadata/new',
    ]);
  });

  it('is a field that came or went, as a whole', () => {
    assert.deepEqual(changedPointers({ filter: { all: [] } }, {}), ['/filter']);
    assert.deepEqual(changedPointers({}, { rate_limit: 1 }), ['/rate_limit']);
  });

  it('escapes names as JSON Pointers do', () => {
    const [before, after] = [{ 'a/b~c': '1' }, { 'a/b~c': '2' }].map((metadata) => ({ metadata }));
    assert.deepEqual(changedPointers(before, after), ['/metadata/a~1b~0c']);
  });

  it('is not when, or which version', () => {
    const versions = [1, 2].map((version) => ({
      version,
      updated_at: `${version}`,
      status_changed_at: `${version}`,
    }));
    assert.deepEqual(changedPointers(versions[0], versions[1]), []);
  });
});
