import { hash } from 'node:crypto';

/** SHA-256, bytes. */
export const HASH_BYTES = 32;

/**
 * A complete subtree: the one that begins at leaf `index * 2 ** level` and has `2 ** level` leaves. Level 0 is a leaf.
 */
export interface TreeNode {
  level: number;
  index: number;
}

/** Reads the hashes of complete subtrees, in the order in which they are asked for. */
export type NodeReader = (nodes: readonly TreeNode[]) => Promise<Buffer[]>;

/** Leaves from `from` up to, but without, `to`. */
interface Range {
  from: number;
  to: number;
}

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

/** Hash of a leaf (RFC 6962, section 2.1): SHA-256 of a byte 0 and the record. */
export function leafHash(record: string | Uint8Array): Buffer {
  return sha256(LEAF, Buffer.from(record));
}

/** Hash of a node (RFC 6962, section 2.1): SHA-256 of a byte 1 and the hashes of its two halves. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(NODE, left, right);
}

/** In one call, which takes half the time of a hash that is updated: there is one for each record and node. */
function sha256(...parts: readonly Uint8Array[]): Buffer {
  return hash('sha256', Buffer.concat(parts), 'buffer');
}

/** Root of a tree without leaves. */
export const EMPTY_ROOT = sha256();

/** Root of the tree that the first `size` leaves make. */
export async function rootHash(size: number, read: NodeReader): Promise<Buffer> {
  if (size === 0) return EMPTY_ROOT;
  const [root] = await hashRanges([{ from: 0, to: size }], read);
  return root as Buffer;
}

/** Proof that leaf `index` is in the tree of `size` leaves (RFC 6962, section 2.1.1). @throws RangeError */
export function inclusionProof(index: number, size: number, read: NodeReader): Promise<Buffer[]> {
  if (!isCount(size) || !isCount(index) || index >= size)
    throw new RangeError(`a tree of ${size} leaves has no leaf ${index}`);
  return hashRanges(pathOf(index, { from: 0, to: size }), read);
}

/**
 * Proof that the tree of `from` leaves is the beginning of the tree of `to` leaves (RFC 6962, section 2.1.2).
 *
 * @throws RangeError
 */
export function consistencyProof(from: number, to: number, read: NodeReader): Promise<Buffer[]> {
  if (!isCount(from) || !isCount(to) || from < 1 || from > to)
    throw new RangeError(`a tree of ${from} leaves is not the beginning of one of ${to}`);
  return hashRanges(consistencyPath(from, { from: 0, to }), read);
}

/** Whether a proof leads from a leaf to a root. */
export function isIncluded(
  leaf: Uint8Array,
  index: number,
  size: number,
  root: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!isCount(size) || !isCount(index) || index >= size) return false;
  const whole = { from: 0, to: size };
  const known = knownFrom(pathOf(index, whole), proof);
  known?.set(nameOf({ from: index, to: index + 1 }), leaf);
  return known !== undefined && hashOf(whole, known).equals(root);
}

/** Whether a proof shows that the tree with one root is the beginning of the tree with another. */
export function isConsistent(
  older: { size: number; root: Uint8Array },
  newer: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (!isCount(older.size) || !isCount(newer.size) || older.size < 1 || older.size > newer.size) return false;
  const [beginning, whole] = [older, newer].map(({ size }) => ({ from: 0, to: size })) as [Range, Range];
  const path = consistencyPath(older.size, whole);
  const known = knownFrom(path, proof);
  if (!known) return false;
  // Where the older tree is a subtree of the newer one, the proof leaves its root out.
  if (!path.some(({ to }) => to === older.size)) known.set(nameOf(beginning), older.root);
  return hashOf(beginning, known).equals(older.root) && hashOf(whole, known).equals(newer.root);
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/**
 * The two halves of a range of more than one leaf: the first has the largest power of two of leaves that is smaller
 * than all.
 */
function halvesOf({ from, to }: Range): [left: Range, right: Range] {
  let half = 1;
  while (half * 2 < to - from) half *= 2;
  return [
    { from, to: from + half },
    { from: from + half, to },
  ];
}

/** The subtrees beside the path from a leaf to the root, lowest first. */
function pathOf(index: number, range: Range): Range[] {
  if (range.to - range.from === 1) return [];
  const [left, right] = halvesOf(range);
  return index < right.from ? [...pathOf(index, left), right] : [...pathOf(index, right), left];
}

/** The subtrees that, together, make both roots. The older tree ends at leaf `end`. */
function consistencyPath(end: number, range: Range): Range[] {
  if (end === range.to) return range.from === 0 ? [] : [range];
  const [left, right] = halvesOf(range);
  return end <= left.to ? [...consistencyPath(end, left), right] : [...consistencyPath(end, right), left];
}

/** The hashes of a proof, by the ranges that they are of; `undefined` if it has another number of them. */
function knownFrom(
  path: readonly Range[],
  proof: readonly Uint8Array[],
): Map<string, Uint8Array> | undefined {
  if (path.length !== proof.length) return undefined;
  return new Map(path.map((range, at) => [nameOf(range), proof[at] as Uint8Array]));
}

/** The hash of a range, whose parts are known down to those that are not divided. */
function hashOf(range: Range, known: ReadonlyMap<string, Uint8Array>): Buffer {
  const hash = known.get(nameOf(range));
  if (hash) return Buffer.from(hash);
  const [left, right] = halvesOf(range);
  return nodeHash(hashOf(left, known), hashOf(right, known));
}

function nameOf({ from, to }: Range): string {
  return `${from}-${to}`;
}

/** Hashes of ranges, by one read of all complete subtrees in them. */
async function hashRanges(ranges: readonly Range[], read: NodeReader): Promise<Buffer[]> {
  const parts = ranges.map(completeSubtrees);
  const hashes = await read(parts.flat());
  let used = 0;
  return parts.map((nodes) => {
    const own = hashes.slice(used, used + nodes.length);
    used += nodes.length;
    return own.reduceRight((right, left) => nodeHash(left, right));
  });
}

/**
 * The complete subtrees of a range, from left to right. The range begins where a subtree as large as it could begin.
 */
export function completeSubtrees({ from, to }: Range): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let start = from; start < to; ) {
    let level = 0;
    let width = 1;
    while (width * 2 <= to - start) {
      width *= 2;
      level += 1;
    }
    nodes.push({ level, index: start / width });
    start += width;
  }
  return nodes;
}
