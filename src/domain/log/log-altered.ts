import { LogAlteredError as AlteredError } from '../../../packages/tlog/src/log-altered.js';

/**
 * Fault of a log: a stable code, which errors, alerts and metrics share.
 *
 * - `checkpoint_missing`: a checkpoint was signed, and MongoDB has none
 * - `checkpoint_smaller`: MongoDB has one of fewer records than was signed last
 * - `checkpoint_not_signed`: one that is kept is not signed with a key of this log
 * - `checkpoint_altered`: the size or root beside a signed note is not the one in it
 * - `checkpoints_differ`: two signed checkpoints of one size have different roots
 * - `leaves_missing`: fewer leaves are stored than were signed, or there is a gap
 * - `tree_altered`: the stored tree is not the one that was signed, or does not continue it
 * - `change_altered`: a change is not what was written, or says that the log has it, which has not. It stays out of the
 * log, which goes on
 * - `segment_altered`: a segment is not what was written, likewise
 * - `void_altered`: a range of void numbers is not what was declared, likewise
 * - `end_altered`: an end of a delivery, of which its account is to be told, is not what was noted. It is not told
 * - `event_altered`: an event that is to be sent is not what was written, or its payload was taken away. It is not sent
 * - `sequence_altered`: which numbers of an account were given is not what was written: they go on above all that are
 * known
 * - `sequence_restored`: MongoDB is older than what stands outside of it, likewise for all accounts
 * - `number_twice`: two events have one number
 */
export const LOG_ALTERED_REASONS = [
  'checkpoint_missing',
  'checkpoint_smaller',
  'checkpoint_not_signed',
  'checkpoint_altered',
  'checkpoints_differ',
  'leaves_missing',
  'tree_altered',
  'change_altered',
  'segment_altered',
  'void_altered',
  'end_altered',
  'event_altered',
  'sequence_altered',
  'sequence_restored',
  'number_twice',
] as const;

export type LogAlteredReason = (typeof LOG_ALTERED_REASONS)[number];

/** The stored log is not the one that was signed: nothing is signed or proven until somebody has looked at it. */
export const LogAlteredError = AlteredError<LogAlteredReason>;
export type LogAlteredError = AlteredError<LogAlteredReason>;
