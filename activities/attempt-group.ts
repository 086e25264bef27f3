import type { AttemptReport, AttemptRequest, GroupAttemptRequest } from './ports.js';

/** Makes the first attempts of a group side by side. An attempt that could not be made gives `null` and takes nothing from the others. */
export function createAttemptGroup(attemptDelivery: (request: AttemptRequest) => Promise<AttemptReport>) {
  return async function attemptGroup({
    events,
    deliveries,
    timeout_ms,
  }: GroupAttemptRequest): Promise<(AttemptReport | null)[]> {
    return Promise.all(
      deliveries.map(async ({ event, endpoint_id }) => {
        const accepted = events[event];
        if (!accepted) return null;
        const { account_id, event_id, event_kind, payload } = accepted;
        const request = { account_id, event_id, event_kind, payload, endpoint_id, number: 1, timeout_ms };
        return attemptDelivery({ ...request, trigger: 'schedule' }).catch(() => null);
      }),
    );
  };
}
