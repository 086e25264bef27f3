/** Keeps the last signed checkpoint where neither MongoDB nor Temporal keep anything: a file, or a URL. */
export interface CheckpointCopy {
  /** The signed note; `undefined` if none has been kept there yet. @throws LogCopyError if that cannot be told */
  read(): Promise<string | undefined>;
  /** Keeps a signed note in the place of the one before. Resolves when it is durable. @throws LogCopyError */
  write(note: string): Promise<void>;
}

/** The place outside cannot be read or written: nothing is signed meanwhile, because nothing would remember it. */
export class LogCopyError extends Error {
  override readonly name = 'LogCopyError';
}
