/**
 * Fault of a stored tree.
 *
 * - `leaves_missing`: fewer leaves are stored than were signed, or there is a gap
 * - `tree_altered`: the stored tree is not the one that was signed, or does not continue it
 */
export type TreeAlteredReason = 'leaves_missing' | 'tree_altered';

/** The stored log is not the one that was signed. @typeParam Reason a stable code; a log may have further ones */
export class LogAlteredError<Reason extends string = TreeAlteredReason> extends Error {
  override readonly name = 'LogAlteredError';
  readonly reason: Reason;

  constructor(reason: Reason, detail: string) {
    super(`${detail}: the database was altered (${reason})`);
    this.reason = reason;
  }

  /** The reason, under the name by which errors are told apart. */
  get code(): Reason {
    return this.reason;
  }
}
