/**
 * The canonical JSON text of a value, by the JSON Canonicalization Scheme (RFC 8785): members sorted by the UTF-16 code
 * units of their names, no white space, numbers and strings as ECMAScript writes them. Members that are `undefined` are
 * left out.
 *
 * @throws TypeError for what JSON cannot hold: a number that is not finite, half a surrogate pair, anything but plain
 * data
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('canonical JSON has no number that is not finite');
    return JSON.stringify(value);
  }
  if (typeof value === 'string') {
    if (LONE_SURROGATE.test(value))
      throw new TypeError('canonical JSON has no text with half a surrogate pair');
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`canonical JSON has no ${typeof value}`);
  const members = value as Record<string, unknown>;
  // Sorted by UTF-16 code units, as RFC 8785, section 3.2.3, asks for.
  const names = Object.keys(members).sort();
  let text = '';
  for (const name of names) {
    if (members[name] === undefined) continue;
    text += `${text && ','}${canonicalJson(name)}:${canonicalJson(members[name])}`;
  }
  return `{${text}}`;
}

/** With the flag `u` a whole pair is one character, which this class does not contain. */
const LONE_SURROGATE = /[\ud800-\udfff]/u;
