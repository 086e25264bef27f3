import { Context } from '@temporalio/activity';
import type { Alert } from '../../src/domain/alert/alert.js';
import { alertOf } from '../../src/domain/alert/alert.js';
import type { AcceptedEvent, DeliveryTarget } from '../../src/domain/delivery/delivery.js';
import { type FailingMark, holdsBack } from '../../src/domain/endpoint/breaker/circuit-breaker.js';
import type { IncidentOutcome } from '../../src/domain/endpoint/breaker/incident.js';
import type { DisableCause } from '../../src/domain/endpoint/breaker/incident-machine.js';
import type { EndpointKey } from '../../src/domain/endpoint/endpoint-key.js';
import { type OperationalEvent, operationalEventId } from '../../src/domain/event/operational-event.js';
import { hostOf } from '../../src/domain/ledger/summaries.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import type { EndpointDirectory } from './endpoint-directory.js';

/** Incidents of endpoints, as they are kept. Both may be repeated. */
export interface IncidentStore {
  /** Records that an incident began. @param since ISO 8601, UTC: the first failure */
  began(endpoint: EndpointKey, since: string): Promise<void>;
  /** Records how the open incident of an endpoint ended. */
  ended(endpoint: EndpointKey, outcome: IncidentOutcome): Promise<void>;
}

/** Alerts people to what happens to endpoints. */
export interface AlertRaiser {
  /** Whether people are alerted to events of a kind. */
  concerns(kind: string): boolean;
  /** Raises an alert. Repeated, it is sent once. */
  raise(alert: Alert): Promise<void>;
}

/** New mark of an endpoint: that it is failing, or `null` if it is not. */
interface MarkChange extends EndpointKey {
  failing: FailingMark | null;
}

/** Dependencies of operational events. */
export interface EmitPorts {
  endpoints: Pick<EndpointDirectory, 'watchers'>;
  ledger: {
    /** Accepts an event, once, however often it is called: it is stored, and its deliveries are started after that. */
    accept(offer: { event: AcceptedEvent; targets: readonly DeliveryTarget[] }): Promise<unknown>;
  };
}

/** Dependencies of incidents. */
export interface IncidentPorts {
  /** Absent if nobody is alerted. */
  raiser?: AlertRaiser | undefined;
  endpoints: EndpointDirectory;
  incidentStore: IncidentStore;
  ledger: EmitPorts['ledger'] & {
    /** Attempts one of the oldest deliveries that wait for an endpoint, if there is one. */
    probe(endpoint: EndpointKey): Promise<void>;
    /**
     * Starts the release of what waits for an endpoint.
     *
     * @param retries whether deliveries that wait for a retry go along with those that are parked
     */
    release(endpoint: EndpointKey, retries: boolean): Promise<void>;
  };
}

/** Activities by which incidents and time change an endpoint. Each may be repeated after a crash. */
export function createEndpointActivities({ endpoints, incidentStore, ledger, raiser }: IncidentPorts) {
  const ports = { endpoints, incidentStore, ledger, raiser };
  return {
    /** Keeps with an endpoint that it is failing, or, with `null`, that it is not. @returns its status, or `deleted` */
    async markEndpoint(change: MarkChange): Promise<string> {
      const status = await mark(endpoints, change);
      // One that ended otherwise has said so before.
      if (!change.failing) await incidentStore.ended(change, status === 'active' ? 'lapsed' : 'superseded');
      return status;
    },

    /** Sends an operational event to the endpoints that are registered for its kind, if there are any. */
    async emitOperationalEvent(event: OperationalEvent): Promise<void> {
      await emit(ports, event);
    },

    /**
     * Starts the release of what waits for an endpoint, or for its next attempt at it. A process may have opened the
     * circuit breaker again while the end of the incident was noted.
     */
    async releaseEndpoint({ account_id, endpoint_id }: EndpointKey): Promise<void> {
      await endpoints.setFailing(account_id, endpoint_id, null);
      await ledger.release({ account_id, endpoint_id }, true);
    },

    /**
     * Marks an endpoint as failing and emits the event that says so, if it is active.
     *
     * @returns its status, or `deleted`
     */
    async openIncident({ event, ...change }: MarkChange & { event: OperationalEvent }): Promise<string> {
      const status = await mark(endpoints, change);
      if (status !== 'active') return status;
      if (change.failing) await incidentStore.began(change, change.failing.since);
      await emit(ports, event);
      return status;
    },

    /**
     * Removes the mark, emits the event, and releases what waits for the endpoint, if anything had to wait: a process
     * may have opened the circuit breaker before the incident heard of its failures.
     */
    async closeIncident({
      account_id,
      endpoint_id,
      event,
      release,
    }: EndpointKey & { event: OperationalEvent; release: boolean }): Promise<void> {
      const removed = await endpoints.setFailing(account_id, endpoint_id, null);
      await incidentStore.ended({ account_id, endpoint_id }, 'recovered');
      await emit(ports, event);
      // An earlier try may have removed the mark.
      const isRepeated = Context.current().info.attempt > 1;
      if (release || holdsBack(removed) || isRepeated)
        await ledger.release({ account_id, endpoint_id }, true);
    },

    /**
     * Disables an endpoint.
     *
     * @returns whether this incident did so; false if it was disabled before for another cause
     */
    async disableEndpoint({
      account_id,
      endpoint_id,
      reason,
      cause,
      verification_revision,
      attempt = cause,
    }: EndpointKey & DisableCause & { reason: string }): Promise<boolean> {
      const result = await endpoints.disable(account_id, endpoint_id, reason, cause, verification_revision, {
        name: attempt,
      });
      if (result === 'disabled') await incidentStore.ended({ account_id, endpoint_id }, 'disabled');
      return result === 'disabled';
    },

    /** Attempts one of the oldest deliveries that wait for an endpoint, to see whether it answers again. */
    probeEndpoint: ({ account_id, endpoint_id }: EndpointKey): Promise<void> =>
      ledger.probe({ account_id, endpoint_id }),

    /**
     * Removes an endpoint's signing secrets whose overlap has ended. They have stopped signing already; this deletes
     * them from the database.
     *
     * @returns how long the next overlap lasts, milliseconds; `null` if there is none left
     */
    async retireSecrets({ account_id, endpoint_id }: EndpointKey): Promise<number | null> {
      const ends = await endpoints.retireSecrets(account_id, endpoint_id);
      return ends === undefined ? null : Math.max(ends - sharedNow(), 0);
    },
  };
}

/** @returns the endpoint's status, or `deleted` */
async function mark(
  endpoints: EndpointDirectory,
  { account_id, endpoint_id, failing }: MarkChange,
): Promise<string> {
  await endpoints.setFailing(account_id, endpoint_id, failing);
  return (await endpoints.load(account_id, endpoint_id))?.status ?? 'deleted';
}

async function emit(
  { endpoints, ledger, raiser }: Omit<IncidentPorts, 'incidentStore'>,
  { account_id, kind, at, transition, payload }: OperationalEvent,
): Promise<void> {
  if (raiser?.concerns(kind)) {
    const endpoint = await endpoints.load(account_id, String(payload['endpoint_id']));
    await raiser.raise(
      alertOf(
        { id: operationalEventId({ at, transition }), kind, at, account_id },
        payload,
        hostOf(endpoint?.target_url),
      ),
    );
  }
  await emitTo({ endpoints, ledger }, { account_id, kind, at, transition, payload });
}

/** Sends an operational event to the endpoints that are registered for its kind, if there are any. */
export async function emitTo(
  { endpoints, ledger }: EmitPorts,
  { account_id, kind, at, transition, payload }: OperationalEvent,
): Promise<void> {
  const targets = await endpoints.watchers(account_id, kind, payload);
  if (targets.length === 0) return;
  const event = {
    account_id,
    event_id: operationalEventId({ at, transition }),
    event_kind: kind,
    accepted_at: at,
  };
  await ledger.accept({ event: { ...event, payload: JSON.stringify(payload) }, targets });
}
