/**
 * A time as `<input type="datetime-local">` has it: in the reader's zone, to the minute.
 *
 * @param at ISO 8601; what is no time is empty
 */
export function toLocal(at: string | undefined): string {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return '';
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 16);
}

/** The time that such an input has, ISO 8601 in UTC; undefined if it is empty or no time. */
export function fromLocal(text: string): string | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
