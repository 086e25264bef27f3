import { toJson, wellFormedJson } from '../text/unicode.js';

/**
 * Characters that end a line: for NDJSON a line feed, for many readers of lines a carriage return and these characters
 * of Unicode as well.
 */
const BREAKS_BETWEEN_TOKENS = /[\r\n]/g;
const BREAKS_IN_TEXTS = /[\u0085\u2028\u2029]/g;

/**
 * A JSON value on one line, for every reader of lines: JSON has what ends one between tokens, where it means nothing,
 * or in texts, where it is escaped.
 */
function onOneLine(json: string): string {
  return json
    .replace(BREAKS_BETWEEN_TOKENS, ' ')
    .replace(BREAKS_IN_TEXTS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An object as a line of JSON, without its end. */
export function toLine(value: object): string {
  return onOneLine(toJson(value));
}

/** How the lines of an export have payloads. */
export const PAYLOAD_FORMS = ['json', 'text'] as const;
export type PayloadForm = (typeof PAYLOAD_FORMS)[number];

/**
 * The last members of a line about an event: its payload, whose numbers keep every digit, because it is not parsed. If
 * the payload as it was received cannot stand on a line, or is not well-formed Unicode, `payload` has an equal value
 * that can, and `payload_text` is a string of what was received. So the bytes that were received are those of
 * `payload_text`, and without it those of `payload` as it stands there.
 *
 * @param payload as it was received; undefined if it is not kept any more
 * @param form `text`: as a string of what was received, for readers that take no other numbers, or no deeper lists,
 * than their own
 */
export function payloadMembers(payload: string | undefined, form: PayloadForm = 'json'): string {
  if (payload === undefined) return '"payload":null';
  if (form === 'text') return `"payload":${onOneLine(JSON.stringify(payload))}`;
  const line = onOneLine(wellFormedJson(payload));
  return line === payload
    ? `"payload":${payload}`
    : `"payload":${line},"payload_text":${onOneLine(JSON.stringify(payload))}`;
}
