/** Deliveries in the first second of a release. */
export const FIRST_RELEASE_RATE = 20;
const SLOWEST_RELEASE_RATE = 1;

/**
 * Attempts of a delivery in a row that are made because its backlog was released: an endpoint may fail again soon after
 * its return. Then the delivery waits for its schedule, so that one that always fails does not follow each recovery.
 */
export const MOST_RELEASES_IN_A_ROW = 3;

/** How a backlog is released. */
export interface ReleaseOptions {
  /** Deliveries in the first second. */
  firstRate: number;
  /** Deliveries per second, at most. May be below 1. */
  maxRate: number;
  /** Whether deliveries that wait for a retry go along. */
  retries: boolean;
  /**
   * Whether the endpoint takes deliveries. `gone`: it was deleted, so that what waits for it ends without an attempt,
   * at the fastest rate.
   */
  endpoint(): Promise<'open' | 'closed' | 'gone'>;
  /** Called once a second, with the rate of that second; at rates below 1, once for each delivery. */
  onProgress(rate: number): void;
}

/** How a release ended. */
export interface ReleaseResult {
  released: number;
  /**
   * The endpoint failed so often that deliveries to it wait again, or was taken out of service: what was left stays as
   * it was.
   */
  stopped: boolean;
}

/** Outcomes, within a second, of some of the deliveries that were released in it. */
export interface ReleaseSample {
  delivered: number;
  failed: number;
  /** No response yet: the endpoint is slow, or its attempts wait for a slot. */
  undecided: number;
}

/**
 * How many deliveries to release in the next second: twice as many while all are delivered at once; as many again if
 * none failed and most are delivered, because then the endpoint, or this machine, is about as fast as it can be; one if
 * it fails again; otherwise half as many.
 *
 * @param rate in the second that has passed
 * @param max the fastest rate, deliveries per second
 */
export function nextReleaseRate(rate: number, sample: ReleaseSample, max: number): number {
  const { delivered, failed, undecided } = sample;
  if (delivered + failed + undecided === 0) return rate;
  if (failed === 0 && undecided === 0) return Math.min(rate * 2, max);
  if (answersWell(sample)) return rate;
  const slower = failsAgain(sample) ? SLOWEST_RELEASE_RATE : Math.floor(rate / 2);
  return Math.min(Math.max(slower, SLOWEST_RELEASE_RATE), max);
}

/** Whether the endpoint can be attempted like a healthy one. */
export function answersWell({ delivered, failed, undecided }: ReleaseSample): boolean {
  return failed === 0 && delivered > undecided;
}

/**
 * Whether the endpoint is failing again, so that the release rests: half of the responses are failures. One bad payload
 * is not enough.
 */
export function failsAgain({ delivered, failed }: ReleaseSample): boolean {
  return failed > 0 && failed >= delivered;
}
