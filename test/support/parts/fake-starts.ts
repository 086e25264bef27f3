import type { Admission, PendingDelivery } from '../../../src/temporal/write/admission.js';

let made = 0;

/** A delivery to an endpoint of its own. */
export function delivery(
  more: { kind?: string; payload?: string; event?: string; keys?: string[] } = {},
): PendingDelivery {
  made += 1;
  const event_id = more.event ?? `evt_${made}`;
  const event = {
    account_id: 'acct_1',
    event_id,
    event_kind: more.kind ?? 'purchase',
    payload: more.payload ?? '{}',
    accepted_at: '',
    ...(more.keys && { keys: more.keys }),
  };
  return { event, target: { endpoint_id: `ep_${made}` }, placement: { isolated: false } };
}

/** Starts that last until they are let go. */
export function fakeStarts() {
  const starts: {
    how: 'alone' | 'group';
    /** Id of the group. */
    id: string | undefined;
    deliveries: readonly PendingDelivery[];
    finish(): void;
    fail(error: Error): void;
  }[] = [];
  const start = (how: 'alone' | 'group') => (deliveries: readonly PendingDelivery[], id?: string) =>
    new Promise<void>((resolve, reject) =>
      starts.push({ how, id, deliveries, finish: resolve, fail: reject }),
    );
  return { starts, startsOf: { startAlone: start('alone'), startGroup: start('group') } };
}

/** Has deliveries started, each of an event of its own, as if their events were stored at once. */
export function submit(subject: Admission, deliveries: readonly PendingDelivery[]): Promise<unknown> {
  return Promise.all(deliveries.map((one) => subject.reserve([one]).stored()));
}

/** Resolves after what is settled already has had its effects. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
