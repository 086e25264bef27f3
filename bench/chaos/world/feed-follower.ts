import { setTimeout as delay } from 'node:timers/promises';
import type { FeedItem, FeedViews } from '../check/collected.js';
import { ask } from './client.js';
import type { World } from './world.js';

/** Seconds that a page waits for an event; and after an error, the wait before it is asked for again, milliseconds. */
const WAIT_S = 2;
const AGAIN_MS = 500;
const PAGE = 100;

/** Systems that read the feeds of accounts that stay, each from page to page. */
export interface FeedFollowers {
  /** Has them read to the end, reads each feed once more from its beginning, and stops. */
  end(): Promise<Record<string, FeedViews>>;
}

export function followFeeds({ accounts, nodes }: World): FeedFollowers {
  let isOver = false;

  /** @param wait for events to come, until everything is over */
  async function read(key: string, wait: boolean): Promise<FeedItem[]> {
    const items: FeedItem[] = [];
    let after: string | undefined;
    for (let turn = 0; ; turn += 1) {
      const isLast = isOver;
      const url = nodes[turn % nodes.length]?.url ?? '';
      const from = after === undefined ? '' : `&after=${after}`;
      const path = `/v18.0/feed?limit=${PAGE}${from}${isLast ? '' : `&wait=${WAIT_S}`}`;
      const { status, json } = await ask(url, key, 'GET', path);
      if (status !== 200) {
        await delay(AGAIN_MS);
        continue;
      }
      items.push(...json.data.map(({ id, position }: FeedItem) => ({ id, position })));
      after = json.paging.cursors?.after ?? after;
      if (json.data.length === 0 && (isLast || !wait) && json.paging.next === undefined) return items;
    }
  }

  const lasting = accounts.filter(({ name }) => name !== 'leaving');
  const following = lasting.map(({ id, key }) => ({ id, key, followed: read(key, true) }));
  return {
    async end() {
      isOver = true;
      const views = following.map(async ({ id, key, followed }) => {
        return [id, { followed: await followed, whole: await read(key, false) }] as const;
      });
      return Object.fromEntries(await Promise.all(views));
    },
  };
}
