import type { EndpointStatus } from '../endpoint/endpoint.js';
import type { Attempt } from './attempt.js';
import type { Outcome } from './outcome.js';

/**
 * The result of an attempt activity: an attempt with its outcome, or why none was made. Waits are durations, which the
 * workflow adds to its own time: the clock of the process that made the attempt says nothing to others.
 */
export type AttemptReport = Result & {
  /**
   * When it was made, by the time of the workflow, milliseconds since the epoch: what a local activity was given, and
   * what has passed since. Absent: the workflow's time at which it hears of it.
   */
  ended_at?: number;
};

/** Another delivery of the same order key, in front of this one, is not delivered yet. */
export type OutOfOrder = {
  kind: 'out_of_order';
  /** The delivery's number in its order. */
  number: number;
  /** The delivery that holds it up, with its status if it has ended. */
  first: { number: number; event_id: string; status?: string };
  /** How long to wait before that is looked at again, unless it is over before. Milliseconds. */
  look_again_ms: number;
};

type Result =
  | OutOfOrder
  | {
      kind: 'attempted';
      attempt: Attempt;
      outcome: Outcome;
      /** The endpoint asked not to be called for so long. Milliseconds. */
      retry_after_ms?: number;
    }
  | {
      /** The payload cannot be read any more: its key was erased. */
      kind: 'erased';
    }
  | {
      /** The endpoint's rate limit is used up: the attempt has its turn at a later time, and is to be made then. */
      kind: 'deferred';
      /** By MongoDB's time, which all who take turns have. ISO 8601, UTC. */
      turn: string;
      /** How long it is until then, milliseconds. */
      wait_ms: number;
      /** The limit. */
      per_second: number;
    }
  | {
      kind: 'not_attempted';
      /**
       * `failing`: active, but known to fail, so that only deliveries chosen for it are attempted at the moment.
       * `busy`: as many attempts as it may have are in flight.
       */
      endpoint: Exclude<EndpointStatus, 'active'> | 'deleted' | 'failing' | 'busy';
      /** Why it has that status, unless its owner has said so. */
      reason?: string;
      /** Failing: since when. ISO 8601, UTC. */
      since?: string;
      /** Busy: attempts that wait for its response. */
      in_flight?: number;
      /** Busy: as many as its owner allows at once. */
      most?: number;
      /** How long to wait before the endpoint is looked at again, unless it changes before. Milliseconds. */
      look_again_ms?: number;
    };
