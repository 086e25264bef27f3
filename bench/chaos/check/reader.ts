import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import { type Answer, ask } from '../world/client.js';
import type { World } from '../world/world.js';

/** Requests of the checker at once: processes and servers share the machine with it. */
const AT_ONCE = 16;
/** An answer that is none of what was asked is asked for again so often. */
const TRIES = 10;
const WAIT_MS = 1_000;
const PAGE = 100;

/** Reads as the operator, of one process after another, past the networks that faults were made in. */
export class Reader {
  private readonly world: World;
  private turn = 0;
  private readonly limited = pLimit(AT_ONCE);

  constructor(world: World) {
    this.world = world;
  }

  /** Asks again for what is not answered, or not in the log yet. @returns the last answer */
  get(account: string | undefined, path: string): Promise<Answer> {
    return this.limited(async () => {
      for (let tries = 1; ; tries += 1) {
        this.turn += 1;
        const { url } = this.world.nodes[this.turn % this.world.nodes.length] ?? { url: '' };
        const answer = await ask(url, this.world.operatorKey, 'GET', path, {
          ...(account !== undefined && { account }),
        });
        const isLate = answer.json?.code === 'not_in_log';
        if (answer.status >= 200 && answer.status < 500 && answer.status !== 429 && !isLate) return answer;
        if (tries === TRIES) return answer;
        await delay(WAIT_MS);
      }
    });
  }

  /** All rows of a list. @throws where a page is refused */
  async all<T>(account: string, path: string): Promise<T[]> {
    const rows: T[] = [];
    let next: string | undefined = `${path}${path.includes('?') ? '&' : '?'}limit=${PAGE}`;
    while (next !== undefined) {
      const { status, json, text }: Answer = await this.get(account, next);
      if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
      rows.push(...json.data);
      next = json.paging.next;
    }
    return rows;
  }

  /** The lines of an export of everything. */
  async exported(account: string): Promise<Record<string, unknown>[]> {
    const { status, text } = await this.get(account, '/v18.0/exports?from=2020-01-01T00:00:00Z');
    if (status !== 200) throw new Error(`the export answered ${status}: ${text}`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}
