declare const isRecorded: unique symbol;

/**
 * A time that is recorded: a workflow or a document has it, so a repeat reads the same one. ISO 8601, UTC. No text is
 * one by itself, least of all the present time of a process.
 */
export type RecordedTime = string & { readonly [isRecorded]: true };

/** A time as a workflow or a document has it. */
export function recordedTime(time: string | Date): RecordedTime {
  return new Date(time).toISOString() as RecordedTime;
}
