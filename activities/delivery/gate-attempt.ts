import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { parseDuration } from '../../src/domain/basics/duration.js';
import { present } from '../../src/domain/basics/objects.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type {
  AttemptSlot,
  EndpointConditions,
} from '../../src/domain/endpoint/breaker/endpoint-conditions.js';
import type { DeliveryOrder } from '../../src/domain/order/delivery-order.js';
import type { OrderPlace } from '../../src/domain/order/order-rule.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import type { EndpointDirectory, EndpointForAttempt } from '../endpoint/endpoint-directory.js';

/** Assigns turns under rate limits, for all processes together. */
export interface DeliveryTurns {
  /**
   * @param withinMs a turn that comes later than in so long is not taken, milliseconds
   * @returns the time of the turn, milliseconds since the epoch: now or later
   */
  take(endpointId: string, rate: number, withinMs?: number): Promise<number>;
}

/** The right to make one of the attempts that an endpoint allows at once, in all processes together. */
export interface AttemptLease {
  release(): Promise<void>;
}

/** Gives such rights. */
export interface AttemptLeases {
  /**
   * @param most how many the endpoint allows at once
   * @param ms the lease ends by itself after this: its process is dead, or stands still
   * @returns `undefined` if all are given
   */
  take(endpointId: string, most: number, ms: number): Promise<AttemptLease | undefined>;
}

/** Dependencies of the gate. */
export interface GatePorts {
  endpoints: Pick<EndpointDirectory, 'load'>;
  turns: DeliveryTurns;
  leases: AttemptLeases;
  /** This process's knowledge of endpoints. */
  conditions: Pick<EndpointConditions, 'heldBack' | 'isIsolated' | 'take'>;
  order: Pick<DeliveryOrder, 'look'>;
}

/** The attempt may be made now. */
interface Passed {
  kind: 'passed';
  endpoint: EndpointForAttempt;
  slot: AttemptSlot;
  /** Time for the attempt, milliseconds. */
  timeoutMs: number;
  /** Its place in the order of the endpoint, if it has one. */
  place?: OrderPlace | undefined;
}
type NotNow = Exclude<AttemptReport, { kind: 'attempted' }>;

/** A turn within this time is waited for here; for a later one the delivery's workflow waits. Milliseconds. */
const NEAR_MS = 100;
/**
 * The same for a probe, for which nothing waits elsewhere: one that is not made is followed by another a minute later,
 * or hours. No longer, because acts on its delivery and a stop of the process wait for it. Milliseconds.
 */
const NEAR_PROBE_MS = 2_000;
/**
 * A turn is void when it is this old: many old ones, used at once after a pause of all workers, would exceed the limit.
 * Milliseconds.
 */
const TURN_VALID_MS = 1_000;
/** A lease that other processes have is waited for here for so long, and asked for so often. Milliseconds. */
const LEASE_WAIT_MS = 1_000;
const LEASE_POLL_MS = 40;
/**
 * A lease lasts so much longer than its attempt may, milliseconds. After that its process is taken for dead, and the
 * attempt for over.
 */
const LEASE_MARGIN_MS = 10_000;

/**
 * Finds out whether an attempt may be made now: by the endpoint as it is now, what this process knows of it, its rate
 * limit, the deliveries in front of it in its order, and the attempts in flight to it. None of this is an attempt, so
 * no time that passes here is charged to the endpoint.
 */
export function createGate({ endpoints, turns, leases, conditions, order }: GatePorts) {
  /** @throws ApplicationFailure if the attempt belongs in the isolated lane */
  return async function gate(request: AttemptRequest): Promise<Passed | NotNow> {
    const { account_id, endpoint_id, number, trigger } = request;
    const endpoint = await endpoints.load(account_id, endpoint_id);
    if (!endpoint) return { kind: 'not_attempted', endpoint: 'deleted' };
    if (endpoint.status !== 'active') {
      return {
        kind: 'not_attempted',
        endpoint: endpoint.status,
        // The owner of a paused endpoint writes the reason and can write anything, so no history has it.
        ...(endpoint.status !== 'paused' && present({ reason: endpoint.status_reason })),
      };
    }

    const { failing, attempt_timeout, max_concurrency } = endpoint;
    const timeoutMs = attempt_timeout === undefined ? request.timeout_ms : parseDuration(attempt_timeout);
    // A local activity, which makes attempts of the direct lane, ends by the installation's limit.
    if (!request.isolated && timeoutMs > request.timeout_ms) throw needsIsolation();
    // Another process may have opened the circuit breaker after this delivery was placed.
    if (!request.placed || failing) {
      // Attempts that a person or the endpoint's incident chose are not held back.
      const isFirst = number === 1 && trigger === 'schedule';
      const held = isFirst && conditions.heldBack(failing);
      if (held) return held;
      if (!request.isolated && conditions.isIsolated(endpoint_id, failing)) throw needsIsolation();
    }

    const { place, waits } = request.order_key === undefined ? {} : await order.look(request, endpoint);
    if (waits) return waits;
    const turn = await waitForTurn(request, endpoint);
    if (turn) return turn;
    const slot = await conditions.take(endpoint_id, {
      mark: failing,
      isDirect: !request.isolated,
      isChosen: trigger === 'manual' || trigger === 'released' || trigger === 'probe',
      ...(request.slot_wait_ms !== undefined && { waitMs: request.slot_wait_ms }),
      most: max_concurrency,
    });
    if (slot.kind !== 'slot') return slot;
    const passed = { kind: 'passed' as const, endpoint, timeoutMs, place };
    if (max_concurrency === undefined) return { ...passed, slot };
    const lease = await leaseFor(endpoint_id, max_concurrency, timeoutMs).catch((error: unknown) => {
      slot.giveBack();
      throw error;
    });
    if (!lease) return slot.giveBack();
    const end = (taken: boolean) => void lease.release().then(() => slot.end(taken));
    return { ...passed, slot: { ...slot, end } };
  };

  /** Waits a moment for attempts of other processes. @returns `undefined` if they take longer */
  async function leaseFor(
    endpointId: string,
    most: number,
    timeoutMs: number,
  ): Promise<AttemptLease | undefined> {
    for (
      const until = performance.now() + LEASE_WAIT_MS;
      ;
      await delay(LEASE_POLL_MS * (1 + Math.random()))
    ) {
      const lease = await leases.take(endpointId, most, timeoutMs + LEASE_MARGIN_MS);
      if (lease || performance.now() >= until) return lease;
    }
  }

  /** Waits for the attempt's turn under the endpoint's rate limit. @returns a report if the turn comes later */
  async function waitForTurn(
    { endpoint_id, trigger, turn }: AttemptRequest,
    { rate_limit }: EndpointForAttempt,
  ): Promise<NotNow | undefined> {
    if (rate_limit === undefined) return undefined;
    if (turn !== undefined && sharedNow() - Date.parse(turn) <= TURN_VALID_MS) return undefined;
    const isProbe = trigger === 'probe';
    const at = await turns.take(endpoint_id, rate_limit, isProbe ? NEAR_PROBE_MS : undefined);
    const wait_ms = at - sharedNow();
    if (wait_ms <= (isProbe ? NEAR_PROBE_MS : NEAR_MS)) {
      await delay(Math.max(wait_ms, 0));
      return undefined;
    }
    const per_second = Number(rate_limit.toFixed(3));
    return { kind: 'deferred', turn: new Date(at).toISOString(), wait_ms, per_second };
  }
}

/** Sends a delivery to the isolated lane. That is not an error, so it is not counted as one. */
function needsIsolation(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'isolated',
    message: 'The endpoint is slow or failing: its attempts are made in the isolated lane.',
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
}
