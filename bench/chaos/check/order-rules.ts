import { groupedBy } from '../../../src/domain/basics/objects.js';
import type { Collected, DeliveryViews, Received } from './collected.js';
import { wasResent } from './delivery-rules.js';
import type { Check, Finding } from './finding.js';
import { isSuccess, recordOf } from './matching.js';

/** Requests of one number of an endpoint and a key. */
interface Place {
  number: number;
  eventId: string;
  firstMs: number;
  /** When its receiver answered 2xx for the first time. */
  doneMs: number | undefined;
}

/**
 * At endpoints in order no delivery comes before those in front of it were delivered, but for those that were
 * cancelled; each event has one number; and numbers are in the order in which a producer posted one after another.
 */
export const order: Check = (collected) => {
  const posted = new Map(collected.posted.flatMap((one) => one.eventIds.map((id) => [id, one] as const)));
  return collected.endpoints
    .filter(({ isOrdered }) => isOrdered)
    .flatMap(({ id: endpointId, path }) => {
      const views = new Map(
        collected.deliveries
          .filter((each) => each.endpointId === endpointId)
          .map((each) => [each.eventId, each]),
      );
      const ofKeys = groupedBy(
        collected.received.filter((request) => request.path === path && request.order),
        ({ order: of }) => of?.key ?? '',
      );
      return [...ofKeys].flatMap(([key, requests]) => {
        const about = `${path} ${key}`;
        const { places, findings } = placesOf(about, requests);
        return [
          ...findings,
          ...places.flatMap((place, at) => overtaken(about, place, places.slice(0, at), views)),
          ...places.flatMap((place, at): Finding[] => {
            const [own, next] = [posted.get(place.eventId), posted.get(places[at + 1]?.eventId ?? '')];
            const isWrong = own && next && !own.scheduled && !next.scheduled && isAfter(own, next);
            if (!isWrong) return [];
            const text = `number ${place.number} was posted after the response to the event of a later number`;
            return [{ rule: 'order', id: about, text }];
          }),
        ];
      });
    });
};

/** A reader of the feed gets every event, also one that goes on from page to page while others are accepted. */
export const feed: Check = ({ feeds, posted }) =>
  Object.entries(feeds).flatMap(([accountId, { followed, whole }]) => {
    const accepted = posted.filter((one) => one.accountId === accountId).flatMap(({ eventIds }) => eventIds);
    const lacks = (name: string, ids: readonly string[], all: readonly string[]) => {
      const known = new Set(ids);
      return [...new Set(all)]
        .filter((id) => !known.has(id))
        .map((id): Finding => ({ rule: 'feed', id, text: `${name} did not get it` }));
    };
    return [
      ...lacks('a reader that followed', followed, [...accepted, ...whole]),
      ...lacks('a reader from the beginning', whole, accepted),
    ];
  });

function placesOf(about: string, requests: readonly Received[]) {
  const places = new Map<number, Place>();
  const findings: Finding[] = [];
  for (const request of requests) {
    const { eventId, atMs, order: { number = 0 } = {} } = request;
    const doneMs = isSuccess(request) ? request.answeredMs : undefined;
    const known = places.get(number);
    if (!known) places.set(number, { number, eventId, firstMs: atMs, doneMs });
    else if (known.eventId === eventId) known.doneMs ??= doneMs;
    else
      findings.push({
        rule: 'order',
        id: about,
        text: `number ${number} is of ${known.eventId} and of ${eventId}`,
      });
  }
  const sorted = [...places.values()].sort((a, b) => a.number - b.number);
  const events = groupedBy(sorted, ({ eventId }) => eventId);
  for (const [eventId, some] of events)
    if (some.length > 1)
      findings.push({
        rule: 'order',
        id: about,
        text: `${eventId} has the numbers ${some.map(({ number }) => number)}`,
      });
  return { places: sorted, findings };
}

function overtaken(
  about: string,
  place: Place,
  before: readonly Place[],
  views: ReadonlyMap<string, DeliveryViews>,
): Finding[] {
  return before.flatMap((one): Finding[] => {
    const of = views.get(one.eventId);
    const isFree = of && (recordOf(of)?.status === 'cancelled' || wasResent(of));
    if (isFree || (one.doneMs !== undefined && one.doneMs <= place.firstMs)) return [];
    const done =
      one.doneMs === undefined ? 'was not delivered' : `was delivered ${one.doneMs - place.firstMs} ms later`;
    return [
      { rule: 'order', id: about, text: `number ${place.number} came before ${one.number}, which ${done}` },
    ];
  });
}

/** Whether an event was posted after another one had been accepted. */
function isAfter(own: Collected['posted'][number], other: Collected['posted'][number]): boolean {
  return (own.postedMs ?? 0) > (other.acknowledgedMs ?? Number.POSITIVE_INFINITY);
}
