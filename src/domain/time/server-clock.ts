/** Length of a period (ms). The best reading of each period is kept. */
const PERIOD_MS = 10_000;
/** How many of the latest periods count: a server's clock that is set back is followed within a minute. */
const PERIODS = 6;
/**
 * A better reading may say that it is a little earlier than was said before: then this clock stands still until it is
 * not. A larger step back, milliseconds, means that somebody has set the server's clock.
 */
const STANDS_STILL_MS = 1_000;
/** Periods for which a question counts, an hour: the rates of two clocks differ a little. */
const PERIODS_ASKED = 360;
/** How much later than {@link ServerClock.now} the time may be said to be, milliseconds: a guard against set clocks. */
const LATEST_MS = 1_000;

/**
 * A server's clock, as this process can know it without its own: the server's times as they arrive, and what has passed
 * since by a clock that nobody sets. A time is on its way for a moment, so the newest of some readings is the best one,
 * and what is read here is never later than what the server has.
 */
export class ServerClock {
  private readonly monotonic: () => number;
  private readonly wall: () => number;
  /** The latest periods, each with its best reading: how far the server's clock is ahead of the monotonic one. */
  private best: { period: number; ahead: number }[] = [];
  /** How far it is ahead at most, by the shortest question of the last hour, and when that was asked. */
  private most: { askedAt: number; ahead: number } | undefined;
  /** The latest time that was told. */
  private told = 0;

  constructor(monotonic: () => number = () => performance.now(), wall: () => number = () => Date.now()) {
    this.monotonic = monotonic;
    this.wall = wall;
  }

  /**
   * Takes in a time that has just arrived from the server, milliseconds since the epoch.
   *
   * @param askedAt when the server was asked, by the monotonic clock: it had that time after that
   */
  read(serverTime: number, askedAt?: number): void {
    const at = this.monotonic();
    if (askedAt !== undefined) {
      // The server's time may have been cut to whole milliseconds.
      const ahead = serverTime + 1 - askedAt;
      const { most } = this;
      if (!most || ahead < most.ahead || askedAt - most.askedAt > PERIODS_ASKED * PERIOD_MS)
        this.most = { askedAt, ahead };
    }
    const period = Math.floor(at / PERIOD_MS);
    const ahead = serverTime - at;
    const latest = this.best.at(-1);
    if (latest?.period === period) latest.ahead = Math.max(latest.ahead, ahead);
    else this.best = [...this.best.filter((one) => one.period > period - PERIODS), { period, ahead }];
  }

  /** Nobody asks the server any more. */
  forget(): void {
    this.best = [];
    this.most = undefined;
    this.told = 0;
  }

  /** Whether the server has told its time. */
  get isKnown(): boolean {
    return this.best.length > 0;
  }

  /** The server's time, milliseconds since the epoch; until it is known, that of this machine. */
  now(): number {
    if (!this.isKnown) return this.wall();
    const now = Math.floor(this.monotonic() + this.ahead);
    if (now < this.told && this.told - now < STANDS_STILL_MS) return this.told;
    this.told = now;
    return now;
  }

  /**
   * The server's time at the latest, milliseconds since the epoch, which is at most a second later than {@link now}.
   * Until the server has been asked, it is `now`.
   */
  latest(): number {
    const now = this.now();
    if (!this.most) return now;
    const most = Math.ceil(this.monotonic() + this.most.ahead);
    return Math.max(now, Math.min(most, now + LATEST_MS));
  }

  /** How far this machine's clock is ahead of the server's, milliseconds; `undefined` until that is known. */
  get difference(): number | undefined {
    return this.isKnown ? this.wall() - this.monotonic() - this.ahead : undefined;
  }

  private get ahead(): number {
    return Math.max(...this.best.map(({ ahead }) => ahead));
  }
}
