import { type KeyObject, sign, verify } from 'node:crypto';
import {
  COSIGNATURE,
  ifValid,
  type NoteSigner,
  type NoteVerifier,
  newSigningKey,
  readSignature,
  readSigningKey,
  readVerifierKey,
  textOf,
} from './signed-note.js';

/** Seconds since the epoch stand before a signature, in eight bytes. */
const TIME_BYTES = 8;

/** Text that a witness signs (C2SP tlog-cosignature): a checkpoint with a time before it. */
const TIMED = {
  algorithm: COSIGNATURE,
  sign(text: string, key: KeyObject): Buffer {
    const time = Buffer.alloc(TIME_BYTES);
    time.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1_000)));
    return Buffer.concat([time, sign(null, messageOf(text, time), key)]);
  },
  isValid(text: string, signature: Uint8Array, key: KeyObject): boolean {
    const time = Buffer.from(signature.subarray(0, TIME_BYTES));
    if (time.length < TIME_BYTES) return false;
    return verify(null, messageOf(text, time), key, signature.subarray(TIME_BYTES));
  },
} as const;

/** A new private key of a witness: `PRIVATE+KEY+name+id+key`. @throws NoteError */
export function newWitnessKey(name: string): string {
  return newSigningKey(name, COSIGNATURE);
}

/** Reads a private key of {@link newWitnessKey}. @throws NoteError that does not repeat the key */
export function readWitnessSigner(text: string): NoteSigner {
  return readSigningKey(text, TIMED);
}

/** Reads the public key of a witness, `name+id+key`. @throws NoteError */
export function readWitnessKey(text: string): NoteVerifier {
  return readVerifierKey(text, TIMED);
}

/**
 * The lines of a text in which a witness cosigns a checkpoint: valid ones alone.
 *
 * @param lines a checkpoint, or what a witness answered
 */
export function cosignaturesBy(
  witness: NoteVerifier,
  note: string,
  lines: string,
): { line: string; at: Date }[] {
  const text = textOf(note);
  return lines.split('\n').flatMap((line) => {
    const found = ifValid(() => readSignature(line));
    if (found?.name !== witness.name || !found.id.equals(witness.id)) return [];
    if (!witness.isValid(text, found.signature)) return [];
    const seconds = found.signature.readBigUInt64BE();
    return [{ line: `${line}\n`, at: new Date(Number(seconds) * 1_000) }];
  });
}

function messageOf(text: string, time: Buffer): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${time.readBigUInt64BE()}\n${text}`);
}
