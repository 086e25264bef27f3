import { setTimeout as delay } from 'node:timers/promises';
import type { SharedTable } from '../../domain/access/limits/rate-table.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import { sharedNow } from '../../domain/time/shared-time.js';
import type { RateWindow, RateWindowRepository } from '../../models/access/rate-windows.js';

/**
 * How long the store may take at the start and at the end, and before the log says that it does not answer.
 * Milliseconds.
 */
const TIMEOUT_MS = 2_000;

/** Where processes share what they counted. */
export type RateStore = Pick<RateWindowRepository, 'tell' | 'open'>;

/**
 * Shares a process's tables with the other processes by way of the database: four times a second while it counts, and
 * not at all while it does not. No request waits for it, as it would for a shared store of a limiter library. Without
 * the database, the process continues with its own counts.
 */
export class RateSharing {
  private readonly stopping = new AbortController();
  private readonly tables: readonly SharedTable[];
  private readonly store: RateStore;
  private readonly failed: (error: unknown) => void;
  private running: Promise<void> | undefined;

  /** @param failed called each time the counts could not be shared */
  constructor(tables: readonly SharedTable[], store: RateStore, failed: (error: unknown) => void) {
    this.tables = tables;
    this.store = store;
    this.failed = failed;
  }

  /** Learns what the others have counted so far, and shares from then on. */
  async start(): Promise<void> {
    try {
      this.learn(await withTimeout(TIMEOUT_MS, this.store.open(sharedNow())));
    } catch (error) {
      this.failed(error);
    }
    for (const table of this.tables) {
      table.onNews = () => {
        this.running ??= this.shareWhileNews();
      };
    }
  }

  /** Shares what has not been shared yet, and stops sharing. */
  async stop(): Promise<void> {
    for (const table of this.tables) delete table.onNews;
    this.stopping.abort();
    await withTimeout(TIMEOUT_MS, this.finish()).catch(this.failed);
  }

  private async finish(): Promise<void> {
    await this.running;
    await this.exchange();
  }

  private async shareWhileNews(): Promise<void> {
    while (this.tables.some((table) => table.hasNews)) {
      const began = performance.now();
      const isShared = await this.exchange();
      if (this.stopping.signal.aborted) break;
      const took = performance.now() - began;
      // A tenth of the time at most: with many thousands of callers it is done less often. A store that has failed is
      // left alone for a while.
      await this.pause(isShared ? Math.max(250, 9 * took) : 5_000);
    }
    this.running = undefined;
  }

  /**
   * Shares what was counted, and reads what all have shared. It waits for as long as the database takes: to share the
   * same again while the first time may still arrive would count it twice.
   *
   * @returns whether it could be shared
   */
  private async exchange(): Promise<boolean> {
    const now = sharedNow();
    const told = this.tables.map((table) => ({ table, news: table.news(now) }));
    const all = told.flatMap(({ news }) => news ?? []);
    if (all.length === 0) return true;
    const silence = setTimeout(
      () => this.failed(new Error(`no response within ${TIMEOUT_MS} ms`)),
      TIMEOUT_MS,
    );
    try {
      const watched = this.tables.flatMap((table) => table.watched ?? []);
      this.learn(await this.store.tell(all, watched));
      return true;
    } catch (error) {
      for (const { table, news } of told) if (news) table.takeBack(news);
      this.failed(error);
      return false;
    } finally {
      clearTimeout(silence);
    }
  }

  private learn(windows: readonly RateWindow[]): void {
    for (const { id, columns } of windows)
      this.tables.find(({ name }) => id.startsWith(`${name}@`))?.learn(id, columns, sharedNow());
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal, ref: false }).catch(() => {});
  }
}
