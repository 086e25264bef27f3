import { UNITS } from './basics/duration.js';

/**
 * Every wait that a rule fixes and no setting changes, as the service waits. Fields are milliseconds. They are part of
 * workflows' inputs, where a field that is absent has its value here. Limits within which something must happen are no
 * waits, and are not here.
 */
export const TIMINGS = {
  /** An incident: before each of the first probes, which are so made 5, 10, 20 and 40 s after it began. */
  early_probes_ms: [5_000, 5_000, 10_000, 20_000] as readonly number[],
  /**
   * A release: before its second and third pass. An attempt that was under way when the endpoint changed has seen it as
   * it was before, and may be parked only now: most of these are found after seconds, all of them after the longest
   * time an attempt can take.
   */
  release_passes_ms: [3_000, 27_000] as readonly number[],
  /** A release rests so long when the endpoint fails again: as long as an incident waits before its first probe. */
  release_rest_ms: 5_000,
  /**
   * Time for which an incident that is older than the release does not stop it: it may be over, or somebody has resumed
   * the endpoint to find out. If it is open after that, it releases what is left when it ends.
   */
  older_incident_ms: 5_000,
  /**
   * How long a process keeps failures of an endpoint before it reports them together: shortly while deliveries are
   * about to wait, so that many processes agree on that soon, and longer before (few) and after (many), when the
   * failures only count.
   */
  report_soon_ms: 500,
  report_few_ms: 30_000,
  report_many_ms: 10_000,
  /** The period in which a process reports a limited number of failures (`MOST_FAILURE_REPORTS`). */
  failure_reports_ms: 250,
  /**
   * An endpoint has taken an attempt lately if one ended well within this time: after it, its connections are closed.
   */
  slots_rested_ms: 5_000,
  /**
   * Those who find no slot at an endpoint ask again no sooner than after this, and while it is silent than after the
   * other.
   */
  slots_ask_ms: 1_000,
  slots_ask_silent_ms: 2_500,
  /**
   * An attempt without a slot asks again after this at the latest. It is parked until then, so the end of an incident
   * releases it sooner; asking is for the case that there is none, and costs something.
   */
  slots_ask_at_last_ms: UNITS.m,
  /**
   * Longer than a request that was accepted before the deletion of its account can take to be answered, and than any
   * process goes by what it remembers of an account: what is open after this time is all that there is.
   */
  deletion_settles_ms: 10_000,
  /**
   * Deletions and erasures search again for what is open after this, which doubles from one search to the next up to
   * the other.
   */
  search_again_ms: 1_000,
  search_again_at_last_ms: UNITS.m,
  /**
   * How long a process remembers a data key. So an erasure has reached all processes after this time, and an event of
   * the subject that another process accepts within it may be erased, too.
   */
  data_key_lifetime_ms: 10_000,
  /**
   * A process may accept events with a data key for its lifetime after it was deleted, and store these a moment later.
   * So the process that deletes a key looks once more after this time.
   */
  keys_remembered_ms: 12_000,
  /** How often a process says that it is there, and looks whether others are. */
  starter_beat_ms: 5_000,
  /** A process that has not said so for so long is dead, or stands still: others start what it has accepted. */
  starter_dead_ms: 15_000,
  /** How often what was counted is written: one write for each endpoint, kind and resolution. */
  tally_interval_ms: 5_000,
  /**
   * How long a process goes by what it remembers of accounts, profiles, event kinds and endpoints, and of what a token
   * stands for: after this it sees what another process has changed.
   */
  resource_lifetime_ms: 1_000,
  token_lifetime_ms: 2_000,
  /**
   * The same of the endpoints that watch others. They are remembered longer: where thousands begin to fail together,
   * each has an event for them, and the account's whole list would be read again each second.
   */
  watchers_lifetime_ms: 10_000,
  /** A success at an endpoint is not reported again within this time, unless a failure came between. */
  success_known_ms: 2_000,
  /**
   * A delivery that waits for a failing endpoint is released when the endpoint answers again. Where it is not, because
   * the incident was terminated by hand, it looks so long after the time by which it should have been.
   */
  missed_release_ms: 10 * UNITS.m,
  /**
   * A delivery that waits for another one in its order is woken when that closes. Should that be lost, it looks after
   * this for each of those in front of it, or half the time that it has waited, at most after the other.
   */
  order_look_ms: 5_000,
  order_look_most_ms: 10 * UNITS.m,
  /**
   * If none of some attempts of a group could be made, nor repeated by Temporal, they are asked for again after this.
   */
  group_broken_ms: 10_000,
  /** While attempts of a group are in flight all the time, lists see what has happened so far this often. */
  group_shown_ms: 5_000,
  /** A log that seems to be altered is looked at again after this, before anybody is told. */
  log_looks_again_ms: 2_000,
  /** How often a process that serves the API looks whether MongoDB was restored under it. */
  restore_look_ms: UNITS.m,
  /** How an act ended of which nobody has said so is found out after this: who recorded it does it no more by then. */
  acts_settle_ms: UNITS.m,
  /** How often a process renews that it holds the stream of a listener. */
  listener_renewal_ms: 10_000,
};

export type Timings = Readonly<typeof TIMINGS>;

/** All waits, shorter in the same proportion, for tests. @param scale above 0, up to 1 */
export function scaledTimings(scale: number): Timings {
  if (scale === 1) return TIMINGS;
  const scaled = (ms: number) => Math.max(Math.round(ms * scale), 1);
  return Object.fromEntries(
    Object.entries(TIMINGS).map(([name, ms]) => [name, typeof ms === 'number' ? scaled(ms) : ms.map(scaled)]),
  ) as unknown as Timings;
}

/** As part of the input of a workflow, whose inputs name only waits that are not as usual. */
export function timingsOfInput(timings: Timings): { timings?: Timings } {
  return timings === TIMINGS ? {} : { timings };
}
