import type { Attempt } from '../../src/domain/attempt/attempt.js';
import { describeAttempt, type Outcome } from '../../src/domain/attempt/outcome.js';
import { attemptName } from '../../src/domain/basics/delivery-id.js';
import { withTimeout } from '../../src/domain/basics/with-timeout.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import { type FailingMark, holdsBack } from '../../src/domain/endpoint/breaker/circuit-breaker.js';
import { GONE } from '../../src/domain/endpoint/endpoint.js';
import { isOperational } from '../../src/domain/event/event-kinds.js';
import type { NamedEndpoint } from '../../src/domain/ledger/summaries.js';
import { hostOf } from '../../src/domain/ledger/summaries.js';
import type { EndpointDirectory } from '../endpoint/endpoint-directory.js';

/** Reports the results of attempts to the incidents of their endpoints. */
export interface IncidentLog {
  /**
   * @param began when the attempt began, milliseconds since the epoch
   * @param attempt `attemptName`
   * @param isMarked whether the endpoint was marked as failing then
   */
  failed(
    endpoint: NamedEndpoint,
    said: string,
    began: number,
    attempt: string,
    isMarked: boolean,
  ): Promise<void>;
  /**
   * @param began likewise
   * @param isMarked whether the endpoint was marked as failing then
   * @param isFirst whether it was its delivery's first attempt
   * @returns whether there is an incident
   */
  succeeded(endpoint: NamedEndpoint, began: number, isMarked: boolean, isFirst: boolean): Promise<boolean>;
  /**
   * @param attempt names the attempt that was answered 410, and disables the endpoint
   * @param verificationRevision of the endpoint as it was attempted
   */
  gone(endpoint: NamedEndpoint, attempt: string, verificationRevision: number): Promise<void>;
}

/** Where the result of an attempt is recorded. */
export interface ConcludePorts {
  endpoints: Pick<EndpointDirectory, 'disable' | 'setFailing'>;
  incidents: IncidentLog;
  /** Starts the release of what waits for an endpoint, or for its next attempt at it. */
  release(endpoint: NamedEndpoint): Promise<void>;
}

/** The time limit for recording that an endpoint is gone, milliseconds. The report waits for it. */
const RECORD_LIMIT_MS = 3_000;

/** An attempt that was made, and what was known of its endpoint. */
interface MadeAttempt {
  attempt: Attempt;
  /** When it began, milliseconds since the epoch; only this process compares it. */
  began: number;
  outcome: Outcome;
  failing: FailingMark | undefined;
  /** The version since which the endpoint has had the URL that was attempted. */
  verificationRevision: number;
}

/**
 * Records what an attempt means for its endpoint. It does not throw if a server cannot be reached: the request has been
 * sent, and must not be sent again because of that.
 */
export function createConclude({ endpoints, incidents, release }: ConcludePorts) {
  /** @returns the attempt's outcome for its delivery */
  return async function conclude(request: AttemptRequest, made: MadeAttempt): Promise<Outcome> {
    if (made.outcome !== 'gone') {
      // Nothing waits for this. If it is lost, the next attempt's result is reported.
      notify(request, made).catch(() => {});
      return made.outcome;
    }
    // If it could not be recorded that the endpoint is gone, the delivery goes on by its schedule and tries again.
    return (await disable(request, made)) ? 'gone' : 'failed';
  };

  /**
   * Whichever of the two comes first disables the endpoint; as both name the attempt, the account is notified once.
   *
   * @returns whether the endpoint takes no deliveries. It does if it has another URL by now, of which the response says
   * nothing
   */
  async function disable(
    { account_id, event_id, endpoint_id, number }: AttemptRequest,
    { attempt, verificationRevision: revision }: MadeAttempt,
  ): Promise<boolean> {
    const host = hostOf(attempt.url);
    const cause = attemptName(event_id, number);
    const { address } = attempt;
    const disabling = endpoints.disable(account_id, endpoint_id, GONE, cause, revision, {
      name: cause,
      address,
    });
    const reporting = incidents.gone({ account_id, endpoint_id, host }, cause, revision);
    // If one could not be recorded, the next attempt does it.
    const [isReported, result] = await Promise.all([
      withTimeout(
        RECORD_LIMIT_MS,
        reporting.then(() => true),
      ).catch(() => false),
      withTimeout(RECORD_LIMIT_MS, disabling).catch(() => undefined),
    ]);
    return result === undefined ? isReported : result !== 'changed';
  }

  /**
   * Notifies the endpoint's incident, if there may be one. Attempts of operational events are not reported, or
   * endpoints that watch each other would keep each other busy.
   */
  async function notify(
    { account_id, event_id, endpoint_id, event_kind, number }: AttemptRequest,
    { attempt, began, outcome, failing }: MadeAttempt,
  ): Promise<void> {
    if (isOperational(event_kind)) return;
    const endpoint = { account_id, endpoint_id, host: hostOf(attempt.url) };
    const isMarked = failing !== undefined;
    if (outcome !== 'delivered') {
      const name = attemptName(event_id, number);
      await incidents.failed(endpoint, describeAttempt(attempt), began, name, isMarked);
      return;
    }
    const isOpen = await incidents.succeeded(endpoint, began, isMarked, number === 1);
    if (!isMarked || isOpen) return;
    // A process has stored the mark after the end of the incident, or its report of the failures has not arrived.
    const removed = await endpoints.setFailing(account_id, endpoint_id, null);
    if (holdsBack(removed)) await release(endpoint);
  }
}
