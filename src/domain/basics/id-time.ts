/** The digits of ULIDs: Crockford's base 32. */
export const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The form of ULIDs; the first of the 26 characters is at most 7, as there are 128 bits. */
export const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
/** The first ten characters of a ULID are its time. */
const TIME_LENGTH = 10;

/**
 * When a valid id was made, milliseconds since the epoch. An event's id is made when the event is accepted, so
 * everything that shows when an event, or a delivery of it, was created asks this.
 */
export function idTime(id: string): number {
  const ulid = id.slice(id.indexOf('_') + 1);
  let time = 0;
  for (const character of ulid.slice(0, TIME_LENGTH)) time = time * 32 + CROCKFORD.indexOf(character);
  return time;
}

/** {@link idTime} as the HTTP interface shows it. ISO 8601, UTC. */
export function createdAt(id: string): string {
  return new Date(idTime(id)).toISOString();
}
