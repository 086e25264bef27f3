import type { AttemptReport } from '../../src/domain/attempt/attempt-report.js';
import { decide } from '../../src/domain/attempt/outcome.js';
import type { AttemptRequest } from '../../src/domain/delivery/attempt-request.js';
import type { EventPayloads } from '../../src/domain/delivery/stored-event.js';
import { RecordAlteredError } from '../../src/domain/records/record-altered.js';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import { type ConcludePorts, createConclude } from './conclude-attempt.js';
import { createGate, type GatePorts } from './gate-attempt.js';
import { ended } from './hand-over.js';
import { createSend, type SendPorts } from './send-attempt.js';

/** Measures attempts. */
export interface AttemptObserver {
  /** An attempt has been made, or was not to be made now. */
  attempted(request: AttemptRequest, report: AttemptReport): void;
  /** None could be made: somebody has altered the event. */
  altered?(error: RecordAlteredError): void;
}

/** Dependencies of an attempt. */
export type AttemptDependencies = GatePorts &
  SendPorts &
  ConcludePorts & {
    payloads: Pick<EventPayloads, 'of'>;
    observer?: AttemptObserver | undefined;
  };

/** Makes one attempt. @throws if it could not be made */
export type AttemptDelivery = (request: AttemptRequest) => Promise<AttemptReport>;

/**
 * Makes one attempt in three steps: the gate says whether it may be made now, the request is sent, and what the
 * response means is recorded with the endpoint.
 *
 * It throws only if no attempt was made: if event or endpoint cannot be read, or if an unhealthy endpoint was to be
 * attempted in the direct lane. Once the request has been sent it returns a report, because Temporal would repeat an
 * activity that throws.
 */
export function createAttemptDelivery(dependencies: AttemptDependencies): AttemptDelivery {
  const gate = createGate(dependencies);
  const send = createSend(dependencies);
  const conclude = createConclude(dependencies);
  const { observer, payloads } = dependencies;

  return async function attemptDelivery(request: AttemptRequest): Promise<AttemptReport> {
    const report = await attemptOnce(request);
    observer?.attempted(request, report);
    return ended(report);
  };

  async function attemptOnce(request: AttemptRequest): Promise<AttemptReport> {
    // Before anything else: what was erased is over, whatever state the endpoint is in.
    const payload = await payloads.of(request).catch((error: unknown) => {
      if (error instanceof RecordAlteredError) observer?.altered?.(error);
      throw error;
    });
    if (payload === undefined) return { kind: 'erased' };
    const passed = await gate(request);
    if (passed.kind !== 'passed') return passed;
    const { endpoint, slot, timeoutMs, place } = passed;
    const began = sharedNow();
    const timed = { ...request, timeout_ms: timeoutMs };
    const { attempt, ...asked } = await send(timed, payload, endpoint, place).catch((error: unknown) => {
      slot.end(false);
      throw error;
    });
    const { outcome, retry_after_ms } = decide({ ...attempt, ...asked }, sharedNow());
    slot.end(outcome === 'delivered');
    const { failing, verification_revision: verificationRevision } = endpoint;
    return {
      kind: 'attempted',
      attempt: request.lost_tries ? { ...attempt, lost_tries: request.lost_tries } : attempt,
      outcome: await conclude(request, { attempt, began, outcome, failing, verificationRevision }),
      ...(retry_after_ms !== undefined && { retry_after_ms }),
    };
  }
}
