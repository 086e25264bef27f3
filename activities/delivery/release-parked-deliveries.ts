import { Context } from '@temporalio/activity';
import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import {
  FIRST_RELEASE_RATE,
  type ReleaseOptions,
  type ReleaseResult,
} from '../../src/domain/endpoint/release.js';
import { temporalClock } from '../../src/domain/time/shared-time.js';
import type { Timings } from '../../src/domain/timings.js';
import type { EndpointDirectory } from '../endpoint/endpoint-directory.js';

/** Dependencies of a release. */
export interface ReleasePorts {
  endpoints: Pick<EndpointDirectory, 'loadFresh'>;
  ledger: {
    /**
     * Releases what waits for an endpoint, oldest first. It lasts until nothing is left, or deliveries to the endpoint
     * wait again.
     */
    releaseBacklog(endpoint: EndpointKey, options: ReleaseOptions): Promise<ReleaseResult>;
  };
  timings: Pick<Timings, 'older_incident_ms'>;
}

/** The backlog to release. */
interface ReleaseRequest extends EndpointKey {
  per_second: number;
  /** Whether deliveries that wait for a retry go along. */
  retries?: boolean;
  /** When the endpoint was found to take deliveries again, by Temporal's time. Milliseconds since the epoch. */
  since?: number;
}

/**
 * Releases what waits for an endpoint, oldest first, at a rate that the endpoint can handle, until nothing is left or
 * deliveries to it wait again. Repeated after a crash, it releases what waits then, at the rate it had reached.
 */
export function createReleaseParkedDeliveries({ ledger, endpoints, timings }: ReleasePorts) {
  return async function releaseParkedDeliveries({
    account_id,
    endpoint_id,
    per_second,
    retries = false,
    since = Context.current().info.scheduledTimestampMs,
  }: ReleaseRequest): Promise<ReleaseResult> {
    const context = Context.current();
    const { heartbeatDetails } = context.info;
    return ledger.releaseBacklog(
      { account_id, endpoint_id },
      {
        firstRate: Number(heartbeatDetails) || FIRST_RELEASE_RATE,
        maxRate: per_second,
        retries,
        async endpoint() {
          // This process may remember it as it was before another one resumed it, and a release that stops is not taken
          // up again.
          const endpoint = await endpoints.loadFresh(account_id, endpoint_id);
          if (!endpoint) return 'gone';
          const { status, failing } = endpoint;
          const isNoted =
            failing &&
            (Date.parse(failing.since) > since || temporalClock.now() > since + timings.older_incident_ms);
          return status !== 'active' || (isNoted && failing.backoff_until) ? 'closed' : 'open';
        },
        onProgress: (rate) => context.heartbeat(rate),
      },
    );
  };
}
