import assert from 'node:assert/strict';
import type { Collected, FeedItem } from '../../../bench/chaos/check/collected.js';
import { feed } from '../../../bench/chaos/check/feed-rules.js';
import { idTime } from '../../../src/domain/basics/id-time.js';
import { ACCOUNT, inFeed, only, wellRun } from '../../support/parts/chaos-run.js';

const [FIRST, SECOND] = ['evt_01M8CZH08CKZ6F5XFND9KG53G5', 'evt_01M8CZH5F9ZWSZFDHDVS11BYXR'] as const;
/** The second's, once it is late. */
const LATE = '01M8CZHAF9ZWSZFDHDVS11BYXR';

function read() {
  const run = wellRun();
  const own = { followed: inFeed(FIRST, SECOND), whole: inFeed(FIRST, SECOND) };
  const posted = [{ ...only(run.posted), eventIds: [FIRST, SECOND] }];
  return { run: { ...run, posted, feeds: { [ACCOUNT]: own } } satisfies Collected, ...own };
}
type Read = ReturnType<typeof read>;

/** The second became late after it had been read. */
function becomeLate({ followed, whole }: Read): void {
  followed.push({ id: SECOND, position: LATE });
  item(whole, 1).position = LATE;
}
/** A process stands still when the second is accepted. */
function freeze({ run }: Read): void {
  const atMs = idTime(SECOND);
  run.disruptions.push({ name: 'node-frozen', fromMs: atMs, toMs: atMs + 1_000 });
}
const item = (items: FeedItem[], at: number) => items[at] ?? assert.fail();

const CASES: [string, RegExp | undefined, (read: Read) => void][] = [
  ['every event once, in one order', undefined, () => {}],
  [
    'an event that a follower of the feed did not get',
    /a reader that followed did not get it/,
    ({ followed }) => void followed.pop(),
  ],
  [
    'an event that is not in the feed',
    /a reader from the beginning did not get it/,
    ({ whole }) => void whole.shift(),
  ],
  [
    'events out of order',
    /a reader that followed got it at 01M8CZH08CKZ6F5XFND9KG53G5, after 01M8CZH5F9ZWSZFDHDVS11BYXR/,
    ({ followed }) => void followed.reverse(),
  ],
  [
    'a page that was given twice',
    /a reader that followed got it at 01M8CZH5F9ZWSZFDHDVS11BYXR, after 01M8CZH5F9ZWSZFDHDVS11BYXR/,
    ({ followed }) => void followed.push(item(followed, 1)),
  ],
  [
    'a position before that of the id',
    /got it at 01M8CZH3F9ZWSZFDHDVS11BYXR, before its id/,
    ({ whole }) => {
      item(whole, 1).position = '01M8CZH3F9ZWSZFDHDVS11BYXR';
    },
  ],
  [
    'an event that comes again with no fault near',
    /a reader that followed got it at 01M8CZH5F9ZWSZFDHDVS11BYXR and at 01M8CZHAF9ZWSZFDHDVS11BYXR/,
    becomeLate,
  ],
  [
    'an event that comes again because a process stood still',
    undefined,
    (all) => {
      becomeLate(all);
      freeze(all);
    },
  ],
  [
    'an event that stands at two positions',
    /a reader from the beginning got it at 01M8CZH5F9ZWSZFDHDVS11BYXR and at 01M8CZHAF9ZWSZFDHDVS11BYXR/,
    (all) => {
      becomeLate(all);
      freeze(all);
      all.whole.splice(1, 1, ...inFeed(SECOND), { id: SECOND, position: LATE });
    },
  ],
  [
    'an event that a follower got before its place',
    /a reader that followed got it at 01M8CZH5F9ZWSZFDHDVS11BYXR, a reader from the beginning at 01M8CZHAF/,
    (all) => {
      becomeLate(all);
      all.followed.pop();
    },
  ],
];

describe('the checker of a chaos run, of the feed', () => {
  for (const [what, finding, change] of CASES)
    it(`${finding ? 'finds' : 'accepts'} ${what}`, () => {
      const all = read();
      change(all);
      const found = feed(all.run).map(({ text }) => text);
      if (finding) assert.match(found.join(), finding);
      else assert.deepEqual(found, []);
    });
});
