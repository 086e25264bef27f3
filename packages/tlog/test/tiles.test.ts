import assert from 'node:assert/strict';
import { edgeOf, parseTilePath, tilePath, widthOf } from '../src/tiles.js';

describe('tiles of the log', () => {
  it('have the paths of C2SP tlog-tiles', () => {
    const paths: [number, number, number, string][] = [
      [0, 0, 256, '0/000'],
      [0, 1_234_067, 256, '0/x001/x234/067'],
      [1, 3, 17, '1/003.p/17'],
      [2, 1_000, 1, '2/x001/000.p/1'],
    ];
    for (const [level, index, width, path] of paths) {
      assert.equal(tilePath({ level, index }, width), path);
      assert.deepEqual(parseTilePath(path), { key: { level, index }, width });
    }
  });

  it('have one path each', () => {
    for (const path of [
      '0/0',
      '0/x000/000',
      '00/000',
      '64/000',
      '0/000.p/0',
      '0/000.p/256',
      '0/000.p/01',
      '0/1234',
      '0/x001/x234/x067',
      '0/',
      '-1/000',
      '0/000/..',
    ])
      assert.equal(parseTilePath(path), undefined, path);
  });

  it('are as wide as the tree has complete subtrees', () => {
    assert.equal(widthOf({ level: 0, index: 0 }, 70_000), 256);
    assert.equal(widthOf({ level: 0, index: 273 }, 70_000), 112);
    assert.equal(widthOf({ level: 0, index: 274 }, 70_000), 0);
    assert.equal(widthOf({ level: 1, index: 1 }, 70_000), 17);
    assert.equal(widthOf({ level: 2, index: 0 }, 70_000), 1);
    assert.equal(widthOf({ level: 3, index: 0 }, 70_000), 0);
    assert.deepEqual(edgeOf(70_000), [
      { level: 0, index: 273 },
      { level: 1, index: 1 },
      { level: 2, index: 0 },
    ]);
    assert.deepEqual(edgeOf(65_536), [{ level: 2, index: 0 }]);
    assert.deepEqual(edgeOf(0), []);
  });
});
