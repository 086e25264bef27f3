import { idTime } from '../../../src/domain/basics/id-time.js';
import { groupedBy } from '../../../src/domain/basics/objects.js';
import { positionOf } from '../../../src/domain/feed/feed.js';
import type { FeedItem } from './collected.js';
import { type Check, type Finding, isNearFault } from './finding.js';

const [FOLLOWER, LATER] = ['a reader that followed', 'a reader from the beginning'] as const;

/**
 * A reader of the feed gets every event, also one that goes on from page to page while others are accepted; each
 * position is higher than the one before; and both find an event at one position. An event that became late after it
 * was read comes once more: its process had stood still.
 */
export const feed: Check = ({ feeds, posted, disruptions }) =>
  Object.entries(feeds).flatMap(([accountId, { followed, whole }]) => {
    const accepted = posted.filter((one) => one.accountId === accountId).flatMap(({ eventIds }) => eventIds);
    const stands = new Map(whole.map(({ id, position }) => [id, position]));
    const lastOf = new Map(followed.map(({ id, position }) => [id, position]));
    return [
      ...lacks(FOLLOWER, followed, [...accepted, ...stands.keys()]),
      ...lacks(LATER, whole, accepted),
      ...misplaced(FOLLOWER, followed),
      ...misplaced(LATER, whole),
      ...again(FOLLOWER, followed, (first, next) =>
        isNearFault({ disruptions }, idTime(first), idTime(next)),
      ),
      ...again(LATER, whole, () => false),
      ...[...lastOf]
        .filter(([id, position]) => stands.has(id) && stands.get(id) !== position)
        .map(([id, position]) =>
          finding(id, `${FOLLOWER} got it at ${position}, ${LATER} at ${stands.get(id)}`),
        ),
    ];
  });

const finding = (id: string, text: string): Finding => ({ rule: 'feed', id, text });

function lacks(reader: string, items: readonly FeedItem[], all: readonly string[]): Finding[] {
  const known = new Set(items.map(({ id }) => id));
  return [...new Set(all)]
    .filter((id) => !known.has(id))
    .map((id) => finding(id, `${reader} did not get it`));
}

/** Positions rise, and none is before that of the event's id. */
function misplaced(reader: string, items: readonly FeedItem[]): Finding[] {
  return items.flatMap(({ id, position }, index) => {
    const before = items[index - 1]?.position ?? '';
    return [
      ...(position > before ? [] : [finding(id, `${reader} got it at ${position}, after ${before}`)]),
      ...(position >= positionOf(id) ? [] : [finding(id, `${reader} got it at ${position}, before its id`)]),
    ];
  });
}

/** @param isAllowed whether an event may come at one position and then at another */
function again(
  reader: string,
  items: readonly FeedItem[],
  isAllowed: (position: string, next: string) => boolean,
): Finding[] {
  return [...groupedBy(items, ({ id }) => id)].flatMap(([id, all]) =>
    all.slice(1).flatMap(({ position: next }, index) => {
      const position = all[index]?.position ?? '';
      return isAllowed(position, next) ? [] : [finding(id, `${reader} got it at ${position} and at ${next}`)];
    }),
  );
}
