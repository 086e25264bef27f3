import { decodeBase64 } from './base64.js';
import { HASH_BYTES } from './merkle-tree.js';
import {
  ifValid,
  NoteError,
  type NoteSigner,
  type NoteVerifier,
  openNote,
  readSignature,
  signNote,
  textOf,
} from './signed-note.js';

/** State of a log: how many leaves it has, and the root of their tree. */
export interface Checkpoint {
  /** Which log: the name of its key. */
  origin: string;
  size: number;
  root: Buffer;
}

/** Beyond which a checkpoint is not read, characters. */
const MAX_CHECKPOINT_LENGTH = 16 * 1024;

/** A signed checkpoint (C2SP tlog-checkpoint). @param signers the keys of one log */
export function signCheckpoint(size: number, root: Buffer, signers: readonly NoteSigner[]): string {
  const origin = signers[0]?.verifier.name;
  return signNote(`${origin}\n${size}\n${root.toString('base64')}\n`, signers);
}

/** Which log a checkpoint says it is of; nothing is verified. */
export function originOf(note: string): string {
  return note.slice(0, Math.max(note.indexOf('\n'), 0));
}

/** The size that a checkpoint says its log has; nothing is verified. 0 if it says none. */
export function sizeOf(note: string): number {
  const size = Number(note.split('\n', 2)[1]);
  return Number.isSafeInteger(size) && size > 0 ? size : 0;
}

/** A checkpoint as the log signed it: without the cosignatures of witnesses, which can come later. @throws NoteError */
export function asSigned(note: string): string {
  const text = textOf(note);
  const origin = originOf(note);
  const lines = note.slice(text.length + 1, -1).split('\n');
  const own = lines.filter((line) => readSignature(line).name === origin);
  return `${text}\n${own.map((line) => `${line}\n`).join('')}`;
}

/** The first of some keys that has signed a checkpoint; `undefined` if none has. */
export function openedBy(note: string, keys: readonly NoteVerifier[]): NoteVerifier | undefined {
  return keys.find((key) => ifValid(() => openCheckpoint(note, [key])));
}

/**
 * Reads a checkpoint, and checks who signed it.
 *
 * @param keys of the logs that are trusted
 * @throws NoteError if it is not valid, or none of the keys has signed it
 */
export function openCheckpoint(note: string, keys: readonly NoteVerifier[]): Checkpoint {
  if (note.length > MAX_CHECKPOINT_LENGTH) throw new NoteError('the checkpoint is too long');
  const { text, by } = openNote(note, keys);
  const [origin = '', size = '', encoded = ''] = text.split('\n');
  const root = decodeBase64(encoded);
  if (!/^(0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size)) || root?.length !== HASH_BYTES)
    throw new NoteError('the checkpoint does not name the size and root of a log');
  if (!by.some(({ name }) => name === origin))
    throw new NoteError(`the checkpoint is of ${origin}, and signed by another log`);
  return { origin, size: Number(size), root };
}
