import { Context } from '@temporalio/activity';
import type { EndpointKey } from '../../src/domain/delivery/delivery.js';
import type { FailingMark } from '../../src/domain/endpoint/incident.js';
import { operationalEventId } from '../../src/domain/event/operational-event.js';
import type { EndpointDirectory, LedgerWriter } from '../ports.js';

/** An event about an endpoint that Hookline emits itself. */
export interface OperationalEvent {
  account_id: string;
  kind: string;
  /** ISO 8601, UTC: when the transition was. */
  at: string;
  /** Names the transition, and so the event, however often it is emitted. */
  transition: string;
  payload: Record<string, unknown>;
}

/** What an incident does to its endpoint. Each may be repeated after a crash. */
export function createIncidentActivities({
  endpoints,
  ledger,
}: {
  endpoints: EndpointDirectory;
  ledger: LedgerWriter;
}) {
  return {
    /** Keeps with an endpoint that it is failing, or, with `null`, that it is not. @returns its status, or `deleted` */
    async markEndpoint({
      account_id,
      endpoint_id,
      failing,
    }: EndpointKey & { failing: FailingMark | null }): Promise<string> {
      await endpoints.setFailing(account_id, endpoint_id, failing);
      return (await endpoints.load(account_id, endpoint_id))?.status ?? 'deleted';
    },

    /** Takes an endpoint out of service. @returns whether this incident did so, rather than somebody else before it */
    async disableEndpoint({
      account_id,
      endpoint_id,
      reason,
      cause,
      verification_revision,
    }: EndpointKey & { reason: string; cause: string; verification_revision?: number }): Promise<boolean> {
      const result = await endpoints.disable(account_id, endpoint_id, reason, cause, verification_revision);
      return result === 'disabled';
    },

    /** Sends an operational event to the endpoints that asked for its kind; where there are none, nobody is told. */
    async emitOperationalEvent({
      account_id,
      kind,
      at,
      transition,
      payload,
    }: OperationalEvent): Promise<void> {
      const targets = await endpoints.recipients(account_id, kind, payload);
      if (targets.length === 0) return;
      const event_id = operationalEventId(at, transition);
      const event = { account_id, event_id, event_kind: kind, accepted_at: at };
      await ledger.accept({ ...event, payload: JSON.stringify(payload) }, targets);
    },

    /** Starts the release of what waits for an endpoint. `retries`: also of what waits for its next attempt. */
    async releaseEndpoint({
      account_id,
      endpoint_id,
      retries = false,
    }: EndpointKey & { retries?: boolean }): Promise<void> {
      await ledger.release({ account_id, endpoint_id }, retries);
    },

    /** Attempts the oldest parked delivery of an endpoint, to see whether it answers again. */
    async probeEndpoint(endpoint: EndpointKey): Promise<void> {
      await ledger.probe(endpoint, () => Context.current().heartbeat());
    },
  };
}
