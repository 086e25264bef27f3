import { createHash } from 'node:crypto';
import type { Attempt } from '../../../domain/attempt/attempt.js';
import type { DeliveryKey } from '../../../domain/basics/delivery-id.js';
import type { AcceptedEvent } from '../../../domain/delivery/delivery.js';
import { openEvent } from '../../../domain/ledger/sealed-event.js';
import type { PayloadSealer } from '../../../domain/privacy/payload-sealer.js';
import { type AttemptView, viewAttempt } from '../attempt-view.js';

/** Opens what executions hold sealed, as long as its key exists. Of what was erased the endpoints' answers are absent. */
export class Opener {
  private readonly sealer: PayloadSealer;

  constructor(sealer: PayloadSealer) {
    this.sealer = sealer;
  }

  /** The payload of an event; `undefined` if it was erased. */
  payload(event: AcceptedEvent): Promise<string | undefined> {
    return openEvent(this.sealer, event);
  }

  /** SHA-256 of an event's payload, hexadecimal; `undefined` if it was erased. */
  async hash(event: AcceptedEvent): Promise<string | undefined> {
    const payload = await this.payload(event);
    return payload === undefined ? undefined : createHash('sha256').update(payload).digest('hex');
  }

  /** Attempts as the HTTP interface shows them. */
  attempts(
    accountId: string,
    { event_id: eventId }: Pick<DeliveryKey, 'event_id'>,
    attempts: readonly Attempt[] = [],
  ): Promise<AttemptView[]> {
    return Promise.all(
      attempts.map(async ({ response_sealed, trigger, ...attempt }) => {
        const answer =
          response_sealed === undefined
            ? undefined
            : await this.sealer.open({ accountId, eventId }, response_sealed);
        return viewAttempt({ ...attempt, ...(answer !== undefined && JSON.parse(answer)), trigger });
      }),
    );
  }
}
