import { decodeBase64 } from './base64.js';
import { HASH_BYTES } from './merkle-tree.js';
import { NoteError } from './signed-note.js';

/** Hashes of a proof in a request (C2SP tlog-witness). */
const MAX_PROOF = 63;

/**
 * Request of a log to a witness: to cosign a checkpoint, with a proof that it continues the one that the witness saw
 * last.
 */
export interface AddCheckpoint {
  /** Size of the checkpoint that the witness saw last; 0: none. */
  from: number;
  proof: Buffer[];
  /** The signed checkpoint. */
  note: string;
}

/** The body of a request `add-checkpoint` (C2SP tlog-witness). */
export function writeAddCheckpoint({ from, proof, note }: AddCheckpoint): string {
  return `old ${from}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`;
}

/** Reads a body of {@link writeAddCheckpoint}. @throws NoteError */
export function readAddCheckpoint(body: string): AddCheckpoint {
  const end = body.indexOf('\n\n');
  const [old = '', ...hashes] = body.slice(0, Math.max(end, 0)).split('\n');
  const size = /^old (0|[1-9]\d{0,15})$/.exec(old)?.[1];
  const proof = hashes.map((hash) => decodeBase64(hash));
  if (end < 0 || size === undefined || !Number.isSafeInteger(Number(size)) || proof.length > MAX_PROOF)
    throw new NoteError('the request is not one of tlog-witness');
  const isProof = (all: (Buffer | undefined)[]): all is Buffer[] =>
    all.every((hash) => hash?.length === HASH_BYTES);
  if (!isProof(proof)) throw new NoteError('the proof holds something else than hashes');
  return { from: Number(size), proof, note: body.slice(end + 2) };
}
