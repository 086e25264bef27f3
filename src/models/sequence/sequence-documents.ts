import type { Block } from '../../domain/sequence/sequence.js';
import { collection, type DocumentIn, must } from '../mongo/collection.js';
import { textOf } from '../mongo/tags.js';

export type StoredBlock = Block & { reserved_at: Date };
export interface StoredLoss {
  first: number;
  last: number;
  at: Date;
  why: string;
}

/** The sequence of an account, with the blocks of which it is not known yet which numbers events have. */
export const sequences = collection('sequences', {
  /** The account. */
  _id: must(String),
  /** The first number that is in no block. */
  next: must(Number),
  blocks: must<StoredBlock[]>([
    { _id: false, first: must(Number), last: must(Number), holder: String, reserved_at: Date },
  ]),
  /** Numbers that may have been given, of which nothing is kept. */
  lost: must<StoredLoss[]>([{ _id: false, first: must(Number), last: must(Number), at: Date, why: String }]),
  /** Tag of all other fields. */
  tag: must(String),
});
export type SequenceDocument = DocumentIn<typeof sequences>;

/** All that is believed of a sequence. */
export function contentOfSequence({ _id, next, blocks, lost }: Omit<SequenceDocument, 'tag'>): string {
  const ofBlocks = listOf(blocks).flatMap(({ first, last, holder, reserved_at }) => [
    ...[first, last, holder, reserved_at],
  ]);
  const ofLost = listOf(lost).flatMap(({ first, last, at, why }) => [first, last, at, why]);
  return textOf([_id, next, listOf(blocks).length, ...ofBlocks, ...ofLost]);
}

/** Whatever stands in the place of a list. */
function listOf<T>(value: T[] | null | undefined): T[] {
  return Array.isArray(value) ? value.map((one) => one ?? ({} as T)) : [];
}

/** Processes that have blocks. */
export const holders = collection('sequence_holders', {
  _id: must(String),
  until: must(Date, { index: true }),
  /** Tag of id and time. */
  tag: must(String),
});
export type HolderDocument = DocumentIn<typeof holders>;

export function contentOfHolder({ _id, until }: Omit<HolderDocument, 'tag'>): string {
  return textOf([_id, until]);
}
