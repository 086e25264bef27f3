import { UNITS } from '../basics/duration.js';
import { parseHttpDate } from './http-date.js';

/** How far ahead an event may be scheduled, milliseconds: a year. */
export const MAX_AHEAD_MS = 366 * UNITS.d;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i;
const DURATION =
  /^P(?!$)(?:(\d{1,3})W)?(?:(\d{1,3})D)?(?:T(?=\d)(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/;

/** Reads a time of RFC 3339 or RFC 9110. @returns milliseconds since the epoch; `undefined` if it is neither */
export function parseDeliverAt(text: string, now: number): number | undefined {
  const at = TIME.test(text) ? Date.parse(text) : parseHttpDate(text, now);
  return at === undefined || Number.isNaN(at) ? undefined : at;
}

/** Reads seconds, or a duration of ISO 8601 without months and years. @returns milliseconds; `undefined` if none */
export function parseDeliverAfter(text: string): number | undefined {
  if (/^\d{1,8}$/.test(text)) return Number(text) * UNITS.s;
  const parts = DURATION.exec(text)
    ?.slice(1)
    .map((part = '0') => Number(part));
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts ?? [];
  return parts && (7 * weeks + days) * UNITS.d + hours * UNITS.h + minutes * UNITS.m + seconds * UNITS.s;
}
