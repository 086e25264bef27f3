import { derivedId } from '../basics/ids.js';

/**
 * The id of an event that Hookline emits itself. The same transition gives the same id however often it is sent, so a repeat is the
 * same event.
 *
 * @param at ISO 8601: when the transition was
 * @param transition what names it and no other
 */
export function operationalEventId(at: string, transition: string): string {
  return derivedId('event', Date.parse(at), transition);
}
