/**
 * Well-formed Unicode: a text of JavaScript can hold half of a surrogate pair, which is no character. Strict readers,
 * such as `jq` or a database, reject a document with one. Whatever is cut is cut here, and whatever leaves as JSON is
 * written here.
 */

const REPLACEMENT = '\ufffd';
const HIGH_SURROGATE = /[\ud800-\udbff]$/;

/** A text with U+FFFD in place of each half of a surrogate pair. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, REPLACEMENT);
}

/**
 * The beginning of a text, cut between two characters.
 *
 * @param most how long the result may be, UTF-16 code units
 * @param mark what a text that was cut ends with, such as `…`; it counts
 */
export function cutText(text: string, most: number, mark = ''): string {
  if (text.length <= most) return wellFormed(text);
  const beginning = text.slice(0, most - mark.length);
  return wellFormed(beginning.replace(HIGH_SURROGATE, '')) + mark;
}

/** The beginning of a text whose UTF-8 form has at most so many bytes, cut between two characters. */
export function cutToBytes(text: string, mostBytes: number): string {
  const whole = wellFormed(text);
  return whole.slice(0, new TextEncoder().encodeInto(whole, new Uint8Array(mostBytes)).read);
}

/** A value as JSON, in well-formed Unicode. */
export function toJson(value: object): string {
  const text = JSON.stringify(value);
  // JSON.stringify escapes a half of a pair, and nothing else so: this is quick to find.
  return text.includes('\\ud') ? wellFormedJson(text) : text;
}

/** A pair, then half of one, then any other escape. */
const ESCAPES =
  /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[dD][89a-fA-F][\da-fA-F]{2}|.)/g;
const MAY_HAVE_HALF = /\\u[dD][89a-fA-F]/;
const ESCAPED_HALF = '\\ud800'.length;

/**
 * A JSON text with `\ufffd` in place of each half of a surrogate pair that it has as an escape. Everything else stays
 * as it is.
 */
export function wellFormedJson(json: string): string {
  if (!MAY_HAVE_HALF.test(json)) return json;
  return json.replace(ESCAPES, (found) => (found.length === ESCAPED_HALF ? '\\ufffd' : found));
}
