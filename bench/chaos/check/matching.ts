import { groupedBy } from '../../../src/domain/basics/objects.js';
import type { AttemptFacts, Collected, DeliveryViews, FullRow, Received } from './collected.js';

/** Requests of one delivery that receivers got, beside its record. */
export interface Matched {
  views: DeliveryViews;
  received: Received[];
  /** Each run's attempts, the oldest run first, each with the request that it is of. */
  runs: { attempt: AttemptFacts; request?: Received }[][];
  /** Requests of tries that an attempt says were lost and may have arrived. */
  told: Received[];
  /** Requests that no record knows of. */
  unrecorded: Received[];
}

/** Puts requests and recorded attempts side by side: the same number and `webhook-timestamp` name one attempt. */
export function matchAll({ deliveries, endpoints, received }: Collected): Matched[] {
  const paths = new Map(endpoints.map(({ id, path }) => [id, path]));
  const byDelivery = groupedBy(received, ({ path, eventId }) => `${path} ${eventId}`);
  return deliveries.map((views) => {
    const requests = byDelivery.get(`${paths.get(views.endpointId)} ${views.eventId}`) ?? [];
    return match(views, requests);
  });
}

function match(views: DeliveryViews, received: Received[]): Matched {
  const left = [...received];
  const runs = runsOf(recordOf(views)).map((attempts) =>
    attempts.map((attempt) => {
      const index = left.findIndex(
        ({ attempt: number, timestamp }) =>
          number === attempt.number && timestamp === attempt.webhook_timestamp,
      );
      const [request] = index >= 0 ? left.splice(index, 1) : [];
      return { attempt, ...(request && { request }) };
    }),
  );
  const told = runs.flat().flatMap(({ attempt: { number, lost_tries = 0 } }) => {
    const some = left.filter((request) => request.attempt === number).slice(0, lost_tries);
    for (const request of some) left.splice(left.indexOf(request), 1);
    return some;
  });
  return { views, received, runs, told, unrecorded: left };
}

/** A delivery's record: its own, or where it was not read by itself the one in the export. */
export function recordOf({ single, exported }: DeliveryViews): FullRow | undefined {
  return single ?? exported;
}

/** The attempts of a delivery's runs, the oldest run first. */
export function runsOf(delivery: FullRow | undefined): AttemptFacts[][] {
  if (!delivery) return [];
  return [...(delivery.earlier_runs ?? []).map(({ attempts }) => attempts).reverse(), delivery.attempts];
}

/**
 * Requests that were answered 2xx, without those that came too late: Hookline recorded that there was no answer, and
 * went on.
 */
export function successesOf({ received, runs }: Matched): Received[] {
  const late = new Set(
    runs
      .flat()
      .flatMap(({ attempt, request }) => (attempt.error_code !== undefined && request ? [request] : [])),
  );
  return received
    .filter((request) => isSuccess(request) && !late.has(request))
    .sort((a, b) => a.atMs - b.atMs);
}

/** Whether an answer means that the event was delivered. */
export function isSuccess({ answered }: Received): boolean {
  return answered !== undefined && answered >= 200 && answered < 300;
}
