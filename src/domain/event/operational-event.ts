import { createHash } from 'node:crypto';
import { newId } from '../basics/ids.js';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_LENGTH = 16;

/**
 * The id of an event that Hookline emits itself. The same transition gives the same id however often it is sent, so a repeat is the
 * same event.
 *
 * @param at ISO 8601: when the transition was
 * @param transition what names it and no other
 */
export function operationalEventId(at: string, transition: string): string {
  const digest = createHash('sha256').update(transition).digest();
  const random = Array.from(digest.subarray(0, RANDOM_LENGTH), (byte) => CROCKFORD[byte % CROCKFORD.length]);
  return newId('event', Date.parse(at)).slice(0, -RANDOM_LENGTH) + random.join('');
}
