import type { EndpointStatus } from '../endpoint/endpoint.js';
import type { Attempt } from './attempt.js';
import type { Outcome } from './outcome.js';

/** The result of an attempt activity: an attempt with its outcome, or why none was made. */
export type AttemptReport =
  | {
      kind: 'attempted';
      attempt: Attempt;
      outcome: Outcome;
      /** The endpoint asked not to be called before. ISO 8601, UTC. */
      retry_after?: string;
    }
  | {
      /** The payload cannot be read any more: its key was erased. */
      kind: 'erased';
    }
  | {
      /** The endpoint's rate limit is used up: the attempt has its turn at a later time, and is to be made then. */
      kind: 'deferred';
      /** ISO 8601, UTC. */
      turn: string;
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
      /** Why its owner gave it that status. */
      reason?: string;
      /** Failing: since when. ISO 8601, UTC. */
      since?: string;
      /** Busy: attempts that wait for its response. */
      in_flight?: number;
      /** When to look at the endpoint again, unless it changes before. ISO 8601, UTC. */
      look_again_at?: string;
    };
