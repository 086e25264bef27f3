import { createServer, type Server } from 'node:http';
import pLimit from 'p-limit';
import { type AddCheckpoint, readAddCheckpoint } from './add-checkpoint.js';
import { type Checkpoint, openCheckpoint, originOf } from './checkpoint.js';
import { EMPTY_ROOT, isConsistent } from './merkle-tree.js';
import { NoteError, type NoteSigner, type NoteVerifier, signatureLine, textOf } from './signed-note.js';

/** A body is read up to this, bytes: a proof of 63 hashes and a checkpoint. */
const MAX_BODY = 32 * 1024;
const SIZE_TYPE = 'text/x.tlog.size';

export interface WitnessOptions {
  signer: NoteSigner;
  /** Keys of the logs that it watches. */
  logs: readonly NoteVerifier[];
  state: WitnessState;
}

/** Latest checkpoints that a witness saw of each log: signed, by origin. */
export type Seen = Readonly<Record<string, string>>;

/** Where a witness keeps what it saw. Without it the witness is lost, and needs a new key. */
export interface WitnessState {
  read(): Promise<Seen>;
  /** Resolves when it is durable. */
  write(seen: Seen): Promise<void>;
}

interface Answer {
  status: number;
  body: string;
  type?: string;
}

/**
 * Answers a body of a request `add-checkpoint`.
 *
 * @throws Error if what it saw cannot be read or kept: then nothing is cosigned
 */
export type Witness = (body: string) => Promise<Answer>;

/**
 * A witness (C2SP tlog-witness): it cosigns a checkpoint only if that continues the one that it cosigned before, and
 * remembers it first. So nobody is shown a log of two histories with its cosignature, not even by the holder of the
 * log's key.
 */
export function createWitness({ signer, logs, state }: WitnessOptions): Witness {
  const answerNow = async (body: string): Promise<Answer> => {
    let asked: AddCheckpoint;
    let checkpoint: Checkpoint;
    try {
      asked = readAddCheckpoint(body);
      textOf(asked.note);
    } catch (error) {
      if (error instanceof NoteError) return { status: 400, body: `${error.message}\n` };
      throw error;
    }
    const origin = originOf(asked.note);
    const keys = logs.filter(({ name }) => name === origin);
    if (keys.length === 0) return { status: 404, body: 'this witness does not know the log\n' };
    try {
      checkpoint = openCheckpoint(asked.note, keys);
    } catch (error) {
      if (error instanceof NoteError) return { status: 403, body: `${error.message}\n` };
      throw error;
    }
    if (asked.from > checkpoint.size) return { status: 400, body: 'the old size is beyond the checkpoint\n' };
    const seen = await state.read();
    const last = seen[origin] === undefined ? undefined : openCheckpoint(seen[origin], keys);
    if (asked.from !== (last?.size ?? 0))
      return { status: 409, type: SIZE_TYPE, body: `${last?.size ?? 0}\n` };
    const refused = refusalOf(last, checkpoint, asked.proof);
    if (refused) return refused;
    await state.write({ ...seen, [origin]: asked.note });
    return { status: 200, body: signatureLine(textOf(asked.note), signer) };
  };

  /** One request at a time: what is compared must be what is replaced. */
  const turns = pLimit(1);
  return (body) => turns(() => answerNow(body));
}

function refusalOf(last: Checkpoint | undefined, next: Checkpoint, proof: Buffer[]): Answer | undefined {
  const before = last ?? { size: 0, root: EMPTY_ROOT };
  if (before.size === next.size) {
    if (!before.root.equals(next.root)) return { status: 409, type: SIZE_TYPE, body: `${before.size}\n` };
    return proof.length === 0 ? undefined : { status: 422, body: 'no proof leads from a size to itself\n' };
  }
  const isProven = before.size === 0 ? proof.length === 0 : isConsistent(before, next, proof);
  return isProven ? undefined : { status: 422, body: 'the proof does not lead to the checkpoint\n' };
}

/** Answers `POST /add-checkpoint`. @param failed is told why a request could not be answered */
export function witnessServer(witness: Witness, failed: (error: unknown) => void): Server {
  return createServer((request, response) => {
    const answer = ({ status, body, type = 'text/plain; charset=utf-8' }: Answer) =>
      response.writeHead(status, { 'content-type': type }).end(body);
    if (request.method !== 'POST' || request.url !== '/add-checkpoint') {
      request.resume();
      answer({ status: 404, body: 'POST /add-checkpoint is all there is\n' });
      return;
    }
    const parts: Buffer[] = [];
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= MAX_BODY) parts.push(part);
    });
    request.on('end', () => {
      if (size > MAX_BODY) {
        answer({ status: 413, body: 'the request is too long\n' });
        return;
      }
      witness(Buffer.concat(parts).toString('utf8')).then(answer, (error: unknown) => {
        failed(error);
        answer({ status: 500, body: 'the witness cannot keep what it saw\n' });
      });
    });
  });
}
