import type { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isEmailAddress } from './email-address.js';

/** Formats that Ajv's own package checks as their standards have it. */
const OF_AJV = ['date', 'email', 'hostname', 'ipv4', 'ipv6', 'uri'] as const;

/** All that are checked. */
const CHECKED: readonly string[] = [...OF_AJV, 'date-time', 'idn-email', 'time', 'utc-date-time', 'uuid'];

/** Whether texts are checked against a format. */
export function isCheckedFormat(format: unknown): format is string {
  return CHECKED.includes(String(format));
}

/** `full-time` (RFC 3339, section 5.6). A second of 60 is a leap second, which is the last one of a day in UTC. */
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[zZ]|([+-])(\d\d):(\d\d))$/;
const UTC = /(?:Z|\+00:00)$/;
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const MINUTES_A_DAY = 1_440;

/**
 * Teaches Ajv the formats that are checked. Any other one is an annotation, as the standard has it (JSON Schema draft
 * 2020-12, Validation, section 7.2.1).
 */
export function addPayloadFormats(ajv: Ajv2020): void {
  addFormats.default(ajv, [...OF_AJV]);
  ajv.addFormat('date-time', isDateTime);
  ajv.addFormat('idn-email', isEmailAddress);
  ajv.addFormat('time', isTime);
  ajv.addFormat('utc-date-time', (text: string) => text[10] === 'T' && UTC.test(text) && isDateTime(text));
  ajv.addFormat('uuid', UUID);
}

function isDateTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[tT\s]/.test(text) && isCalendarDay(text.slice(0, 10)) && isTime(text.slice(11));
}

function isTime(text: string): boolean {
  const [, hour, minute, second, sign, offsetHours = 0, offsetMinutes = 0] = TIME.exec(text) ?? [];
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return false;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return false;
  if (Number(second) < 60) return true;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const inUtc = Number(hour) * 60 + Number(minute) - offset;
  return (inUtc + MINUTES_A_DAY) % MINUTES_A_DAY === MINUTES_A_DAY - 1;
}

/** JavaScript takes 30 February for 2 March; the day that comes out must be the one that went in. */
function isCalendarDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
