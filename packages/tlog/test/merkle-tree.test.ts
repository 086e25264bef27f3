import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TreeInMemory } from '../../../test/support/parts/log-tree.js';
import {
  consistencyProof,
  EMPTY_ROOT,
  inclusionProof,
  isConsistent,
  isIncluded,
  leafHash,
  nodeHash,
  rootHash,
} from '../src/merkle-tree.js';

/** The tree as RFC 6962, section 2.1, defines it. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return EMPTY_ROOT;
  if (leaves.length === 1) return leaves[0] as Buffer;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return nodeHash(naiveRoot(leaves.slice(0, half)), naiveRoot(leaves.slice(half)));
}

const leavesOf = (count: number) => Array.from({ length: count }, (_, at) => leafHash(`record ${at}`));

/**
 * Leaves of the reference tree that the implementations of Certificate Transparency test with, and its roots by size.
 */
const REFERENCE = {
  leaves: [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ],
  roots: [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ],
};

describe('the tree of the log', () => {
  it('has the roots of the reference tree of Certificate Transparency', async () => {
    const tree = new TreeInMemory();
    for (const [at, leaf] of REFERENCE.leaves.entries()) {
      tree.append([leafHash(Buffer.from(leaf, 'hex'))]);
      assert.equal((await rootHash(at + 1, tree.read)).toString('hex'), REFERENCE.roots[at]);
    }
    assert.equal(
      (await rootHash(0, tree.read)).toString('hex'),
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    );
  });

  it('has the root of the definition at every size, however its leaves were added', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 6 }), async (parts) => {
        const tree = new TreeInMemory();
        const leaves = leavesOf(parts.reduce((sum, part) => sum + part, 0));
        for (const part of parts) tree.append(leaves.slice(tree.size, tree.size + part));
        const earlier = Math.floor(leaves.length / 2);
        assert.deepEqual(await rootHash(leaves.length, tree.read), naiveRoot(leaves));
        assert.deepEqual(await rootHash(earlier, tree.read), naiveRoot(leaves.slice(0, earlier)));
      }),
      { numRuns: 30 },
    );
  });

  it('proves each leaf at each size up to 40', async () => {
    const leaves = leavesOf(40);
    const tree = new TreeInMemory(leaves);
    for (let size = 1; size <= leaves.length; size += 1) {
      const root = naiveRoot(leaves.slice(0, size));
      for (let index = 0; index < size; index += 1) {
        const proof = await inclusionProof(index, size, tree.read);
        assert.ok(isIncluded(leaves[index] as Buffer, index, size, root, proof), `${index} in ${size}`);
        assert.ok(!isIncluded(leaves[(index + 1) % 40] as Buffer, index, size, root, proof));
      }
    }
  });

  it('proves each size up to 40 to be the beginning of each larger one, and of no other tree', async () => {
    const leaves = leavesOf(40);
    const tree = new TreeInMemory(leaves);
    const roots = leaves.map((_, at) => naiveRoot(leaves.slice(0, at + 1)));
    const rewritten = naiveRoot([leafHash('another'), ...leaves.slice(1)]);
    for (let to = 1; to <= leaves.length; to += 1) {
      for (let from = 1; from <= to; from += 1) {
        const proof = await consistencyProof(from, to, tree.read);
        const older = { size: from, root: roots[from - 1] as Buffer };
        assert.ok(
          isConsistent(older, { size: to, root: roots[to - 1] as Buffer }, proof),
          `${from} in ${to}`,
        );
        assert.ok(!isConsistent(older, { size: to, root: rewritten }, proof));
      }
    }
  });

  it('proves across tiles of two levels', async () => {
    const leaves = leavesOf(70_000);
    const tree = new TreeInMemory(leaves);
    const root = await rootHash(leaves.length, tree.read);
    for (const index of [0, 255, 256, 65_535, 65_536, 69_999]) {
      const proof = await inclusionProof(index, leaves.length, tree.read);
      assert.ok(isIncluded(leaves[index] as Buffer, index, leaves.length, root, proof), String(index));
    }
    for (const size of [1, 256, 257, 65_536, 65_537, 69_999]) {
      const older = { size, root: await rootHash(size, tree.read) };
      const proof = await consistencyProof(size, leaves.length, tree.read);
      assert.ok(isConsistent(older, { size: leaves.length, root }, proof), String(size));
    }
  });

  it('accepts no proof that is longer, shorter, or for another place or size', async () => {
    const leaves = leavesOf(7);
    const tree = new TreeInMemory(leaves);
    const root = naiveRoot(leaves);
    const proof = await inclusionProof(6, 7, tree.read);
    const leaf = leaves[6] as Buffer;
    assert.ok(isIncluded(leaf, 6, 7, root, proof));
    assert.ok(!isIncluded(leaf, 6, 7, root, [...proof, leaf]));
    assert.ok(!isIncluded(leaf, 6, 7, root, proof.slice(1)));
    for (const [index, size] of [
      [5, 7],
      [6, 8],
      [7, 7],
      [-1, 7],
      [6.5, 7],
      [6, Number.NaN],
      [6, 2 ** 60],
    ] as const) {
      assert.ok(!isIncluded(leaf, index, size, root, proof), `${index} of ${size}`);
    }
    await assert.rejects(async () => inclusionProof(7, 7, tree.read), RangeError);
    await assert.rejects(async () => consistencyProof(0, 7, tree.read), RangeError);
    await assert.rejects(async () => consistencyProof(8, 7, tree.read), RangeError);
  });
});
