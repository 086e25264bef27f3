import { createHash } from 'node:crypto';
import { ulid } from 'ulid';
import { sharedNow } from '../time/shared-time.js';
import { CROCKFORD, ULID } from './id-time.js';
import { takeRandomBytes } from './random.js';

/** Kinds of ids, with their prefixes. The prefix makes an id in a log recognizable. */
const PREFIXES = {
  account: 'acct',
  api_key: 'key',
  change: 'chg',
  desk_session: 'ds',
  endpoint: 'ep',
  erasure: 'ers',
  event: 'evt',
  group: 'grp',
  input: 'inp',
  oauth_client: 'client',
  portal_session: 'ps',
  profile: 'prof',
  replay: 'rpl',
  request: 'req',
  scheduled_event: 'sch',
  segment: 'seg',
  starter: 'strt',
} as const;

export type IdKind = keyof typeof PREFIXES;

/** The last characters of a ULID; those before them are its time. */
const RANDOM_LENGTH = 16;

/**
 * A new id: prefix, underscore, ULID. Ids of one kind sort by the time they were made.
 *
 * @param at milliseconds since the epoch that the id sorts by
 */
export function newId(kind: IdKind, at = sharedNow()): string {
  return `${PREFIXES[kind]}_${ulid(at, nextRandom)}`;
}

/** A number from 0 up to 1, of one random byte. The library asks the system for each byte by itself. */
function nextRandom(): number {
  return (takeRandomBytes(1)[0] ?? 0) / 256;
}

/** How all ids of a kind begin that were made at a time. Sorts before them, and behind all that were made earlier. */
export function idsBeginAt(kind: IdKind, at: number): string {
  return newId(kind, at).slice(0, -RANDOM_LENGTH);
}

/**
 * The id that something always has that is recorded more than once: the same time and name give the same id.
 *
 * @param at milliseconds since the epoch that the id sorts by
 * @param name what names it and nothing else of its kind
 */
export function derivedId(kind: IdKind, at: number, name: string): string {
  const digest = createHash('sha256').update(name).digest();
  const random = Array.from(digest.subarray(0, RANDOM_LENGTH), (byte) => CROCKFORD[byte % CROCKFORD.length]);
  return idsBeginAt(kind, at) + random.join('');
}

/** The form of ids of that kind. */
export function idPattern(kind: IdKind): RegExp {
  return new RegExp(`^${PREFIXES[kind]}_${ULID}$`);
}

/** Whether a text is an id of that kind. Everything that is put into a query is checked by it. */
export function isId(kind: IdKind, text: string): boolean {
  return idPattern(kind).test(text);
}
