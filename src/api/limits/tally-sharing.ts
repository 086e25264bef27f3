import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { RateCounters } from '../../domain/access/rate-counters.js';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import type { RateTallyRepository } from '../../models/access/rate-tallies.js';

/** How long a process that goes on counting waits before it tells the others and hears them again, milliseconds. */
const SHARE_INTERVAL_MS = 250;
/** Sharing takes at most one part in so many of the time: with many thousands of callers it takes long, and is done less often. */
const SHARE_OF_TIME = 10;
/** How long the store is left alone after it failed, milliseconds. */
const STORE_PAUSE_MS = 5_000;
/** How long the store may take, milliseconds. */
const TIMEOUT_MS = 2_000;
/** What processes left behind that are gone is removed after so many exchanges. */
const SWEEP_EVERY = 1_000;

/** Where the processes tell each other what they counted. */
export type TallyStore = Pick<RateTallyRepository, 'tell' | 'toldByOthers' | 'deleteExpired'>;

/**
 * Shares what this process counts with the other ones, by way of the database: while it counts, it tells the others and hears them
 * four times a second; while it does not, it leaves the database alone. Without the database it goes on with what it knows.
 */
export class TallySharing {
  private readonly process = randomUUID();
  private readonly stopping = new AbortController();
  private readonly counters: RateCounters;
  private readonly store: TallyStore;
  private readonly failed: (error: unknown) => void;
  private running: Promise<void> | undefined;
  private news = false;
  private heardAt = 0;
  private exchanges = 0;

  /** @param failed told each time that the counts could not be shared */
  constructor(counters: RateCounters, store: TallyStore, failed: (error: unknown) => void) {
    this.counters = counters;
    this.store = store;
    this.failed = failed;
  }

  /** Hears what the others have counted so far, and shares from then on. */
  async start(): Promise<void> {
    await this.exchange();
    this.counters.onNews = () => {
      this.news = true;
      this.running ??= this.shareWhileNews();
    };
  }

  /** Tells the others what they have not been told yet, and shares no more. */
  async stop(): Promise<void> {
    this.counters.onNews = () => {};
    this.stopping.abort();
    await this.running;
    if (this.news) await this.exchange();
  }

  private async shareWhileNews(): Promise<void> {
    while (this.news && !this.stopping.signal.aborted) {
      this.news = false;
      const began = performance.now();
      const shared = await this.exchange();
      const took = performance.now() - began;
      await this.pause(shared ? Math.max(SHARE_INTERVAL_MS, took * (SHARE_OF_TIME - 1)) : STORE_PAUSE_MS);
    }
    this.running = undefined;
  }

  /** @returns whether the store could be reached */
  private async exchange(): Promise<boolean> {
    const now = Date.now();
    try {
      await withTimeout(TIMEOUT_MS, this.tellAndHear(now));
      this.heardAt = now;
      return true;
    } catch (error) {
      this.news = true;
      this.failed(error);
      return false;
    }
  }

  private async tellAndHear(now: number): Promise<void> {
    if (this.exchanges % SWEEP_EVERY === 0) await this.store.deleteExpired(now);
    this.exchanges += 1;
    const own = this.counters.open(now);
    if (own.length > 0) await this.store.tell(this.process, own, now);
    for (const { process, tallies } of await this.store.toldByOthers(this.process, this.heardAt)) {
      this.counters.learn(process, tallies);
    }
  }

  private async pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.stopping.signal, ref: false }).catch(() => {});
  }
}
