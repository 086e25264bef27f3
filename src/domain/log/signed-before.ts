import {
  type Checkpoint,
  NoteError,
  type NoteVerifier,
  openCheckpoint,
  originOf,
} from '../../../packages/tlog/src/index.js';
import { LogAlteredError } from './log-altered.js';

/** A checkpoint and the note that it was read from, after its signature was verified. */
export interface OpenedCheckpoint extends Checkpoint {
  note: string;
  /** Response of a time-stamping service, base64; absent if there is none yet. Nothing is verified. */
  timestamp?: string | undefined;
}

/** A checkpoint as MongoDB keeps it. Nothing but its note is believed. */
export type StoredCheckpoint = Omit<OpenedCheckpoint, 'origin'>;

/** Signed notes, by where they are kept. */
export interface KeptCheckpoints {
  /** In MongoDB: the one that the API shows. */
  stored: StoredCheckpoint | undefined;
  /** In Temporal: results of earlier runs of `keepRecords`. They are kept after the one in MongoDB. */
  ledger?: readonly string[] | undefined;
  /** In the operator's file or at the operator's URL. It is kept before the one in MongoDB. */
  copy?: string | undefined;
}

/** Checkpoints that were signed, all of which the next one has to continue. */
export interface SignedBefore {
  /** The one in MongoDB; absent: the log has not begun. */
  head?: OpenedCheckpoint;
  /** The largest; absent: the log has not begun. */
  last?: OpenedCheckpoint;
  /** All, that in MongoDB first. */
  all: OpenedCheckpoint[];
}

/**
 * Checkpoints that were signed before, from every place that remembers them. Each note is opened.
 *
 * A copy may be ahead of MongoDB, after a crash between the two; whether the tree leads to it is for the caller to
 * prove. MongoDB is never behind Temporal.
 *
 * @param keys that are known to have signed this log
 * @param abandoned origins of logs that the operator has given up: their checkpoints count for nothing
 * @throws LogAlteredError if one is missing, smaller than another, or not signed
 */
export function signedBefore(
  { stored, ledger = [], copy }: KeptCheckpoints,
  keys: readonly NoteVerifier[],
  abandoned: readonly string[] = [],
): SignedBefore {
  const counts = (note: string) => !abandoned.includes(originOf(note));
  const head = stored && counts(stored.note) ? openStored(stored, keys) : undefined;
  const recorded = ledger.filter(counts).map((note) => open('in Temporal', note, keys));
  const copied = copy !== undefined && counts(copy) ? [open('in the copy outside', copy, keys)] : [];
  const outside = [...recorded, ...copied];
  if (!head) {
    const [known] = outside;
    if (!known) return { all: [] };
    throw new LogAlteredError(
      'checkpoint_missing',
      `a checkpoint of ${known.size} records was signed, and MongoDB has none`,
    );
  }
  const ahead = recorded.find(({ size }) => size > head.size);
  if (ahead)
    throw new LogAlteredError(
      'checkpoint_smaller',
      `a checkpoint of ${ahead.size} records was signed, and the one in MongoDB has ${head.size}`,
    );
  const all = [head, ...outside];
  for (const { size, root } of all) {
    if (all.some((other) => other.size === size && !other.root.equals(root)))
      throw new LogAlteredError(
        'checkpoints_differ',
        `two checkpoints of ${size} records have different roots`,
      );
  }
  const last = all.reduce((largest, one) => (one.size > largest.size ? one : largest));
  return { head, last, all };
}

/**
 * Opens the checkpoint that MongoDB has.
 *
 * @throws LogAlteredError if it is not signed, or its document says something else than its note
 */
export function openStored(stored: StoredCheckpoint, keys: readonly NoteVerifier[]): OpenedCheckpoint {
  const opened = open('in MongoDB', stored.note, keys);
  if (opened.size !== stored.size || !opened.root.equals(stored.root))
    throw new LogAlteredError(
      'checkpoint_altered',
      'size and root of the last checkpoint are not those in its signed note',
    );
  return { ...opened, timestamp: stored.timestamp };
}

function open(where: string, note: string, keys: readonly NoteVerifier[]): OpenedCheckpoint {
  try {
    return { ...openCheckpoint(note, keys), note };
  } catch (error) {
    if (!(error instanceof NoteError)) throw error;
    throw new LogAlteredError(
      'checkpoint_not_signed',
      `the last checkpoint ${where} is not one that this log signed (${error.message})`,
    );
  }
}
