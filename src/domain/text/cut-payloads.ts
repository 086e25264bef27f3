/** A body with several events: the payloads as received, and the rest, in which each is its number. */
export interface CutBody {
  rest: Buffer;
  payloads: Buffer[];
}

const [QUOTE, BACKSLASH, COLON, COMMA, LIST, END_OF_LIST, OBJECT, END_OF_OBJECT] = [...'"\\:,[]{}'].map(
  (one) => one.charCodeAt(0),
);
/** Where payloads stand: in an object of a list of an object. */
const DEPTH = 3;
const NAME = Buffer.from('"payload"');

/**
 * Cuts the payloads out of a body, byte for byte, in one pass and before anything is parsed. If the rest is valid JSON,
 * and so is each payload, the body is; what stands elsewhere, or twice, does not have its number there.
 *
 * @param most payloads; with more, `undefined`
 */
export function cutPayloads(body: Buffer, most: number): CutBody | undefined {
  const rest: (Buffer | string)[] = [];
  const payloads: Buffer[] = [];
  let kept = 0;
  let depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === LIST || byte === OBJECT) depth += 1;
    else if (byte === END_OF_LIST || byte === END_OF_OBJECT) depth -= 1;
    else if (byte === QUOTE) {
      const end = endOfString(body, at);
      const colon = skipSpace(body, end);
      if (depth === DEPTH && body[colon] === COLON && body.subarray(at, end).equals(NAME)) {
        const first = skipSpace(body, colon + 1);
        const last = endOfValue(body, first);
        if (payloads.length === most) return undefined;
        rest.push(body.subarray(kept, first), String(payloads.length));
        payloads.push(body.subarray(first, last));
        kept = last;
        at = last - 1;
      } else at = end - 1;
    }
  }
  rest.push(body.subarray(kept));
  return { rest: Buffer.concat(rest.map((part) => Buffer.from(part))), payloads };
}

/** @param at of its first quotation mark @returns the place behind its last one */
function endOfString(body: Buffer, at: number): number {
  let end = at + 1;
  while (end < body.length && body[end] !== QUOTE) end += body[end] === BACKSLASH ? 2 : 1;
  return Math.min(end + 1, body.length);
}

function endOfValue(body: Buffer, first: number): number {
  let depth = 0;
  let end = first;
  for (let at = first; at < body.length; ) {
    const byte = body[at];
    const isEnd = byte === END_OF_LIST || byte === END_OF_OBJECT;
    if (depth === 0 && (isEnd || byte === COMMA)) break;
    if (byte === LIST || byte === OBJECT) depth += 1;
    else if (isEnd) depth -= 1;
    at = byte === QUOTE ? endOfString(body, at) : at + 1;
    if (!isSpace(byte)) end = at;
  }
  return end;
}

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  while (isSpace(body[at])) at += 1;
  return at;
}

/** Space of JSON (RFC 8259, section 2). */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
