/**
 * A time as `<input type="datetime-local">` has it: in the reader's zone, to the second.
 *
 * @param at ISO 8601; what is no time is empty
 */
export function toLocal(at: string | undefined): string {
  const ms = Date.parse(at ?? '');
  if (Number.isNaN(ms)) return '';
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 19);
}

/**
 * The time that such an input has, ISO 8601 in UTC; undefined if it is empty or no time.
 *
 * @param given the time that was put into it. It is what an input that still shows it means: of milliseconds, and of
 * which of two hours in the night in which clocks are put back, the input says nothing
 */
export function fromLocal(text: string, given?: string): string | undefined {
  const ms = Date.parse(given !== undefined && text === toLocal(given) ? given : text);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
