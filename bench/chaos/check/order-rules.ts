import { parseDuration } from '../../../src/domain/basics/duration.js';
import { groupedBy } from '../../../src/domain/basics/objects.js';
import type { OrderRule } from '../../../src/domain/event/ordering.js';
import type { DeliveryViews, Posted, Received } from './collected.js';
import { wasResent } from './delivery-rules.js';
import type { Check, Finding } from './finding.js';
import { isSuccess, recordOf } from './matching.js';

/** Processes read MongoDB's time over networks that can be slow, so two of them can differ by this. Milliseconds. */
const CLOCKS_DIFFER_MS = 1_000;

/** Requests of one number of an endpoint and a key. */
interface Place {
  number: number;
  eventId: string;
  firstMs: number;
  /** When its receiver answered 2xx for the first time. */
  doneMs: number | undefined;
}

/** Requests of one order at an endpoint, and its deliveries. */
interface Stream {
  rule: OrderRule;
  requests: readonly Received[];
  /** By number. */
  places: readonly Place[];
  /** Deliveries to the endpoint, by event. */
  views: ReadonlyMap<string, DeliveryViews>;
  posted: ReadonlyMap<string, Posted>;
}

/**
 * At endpoints in order no delivery comes before those in front of it were delivered, but for those that were
 * cancelled or that the endpoint's rule skips; each event has one number, and no number is left out; and numbers are
 * in the order in which a producer posted one after another.
 */
export const order: Check = (collected) => {
  const posted = new Map(collected.posted.flatMap((one) => one.eventIds.map((id) => [id, one] as const)));
  return collected.endpoints.flatMap(({ id: endpointId, path, order: rule }) => {
    if (!rule) return [];
    const deliveries = collected.deliveries.filter((each) => each.endpointId === endpointId);
    const views = new Map(deliveries.map((each) => [each.eventId, each]));
    const requests = collected.received.filter((request) => request.path === path);
    const ofKeys = groupedBy(
      requests.filter(({ order: of }) => of),
      ({ order: of }) => of?.key ?? '',
    );
    const say =
      (about: string) =>
      (text: string): Finding => ({ rule: 'order', id: about, text });
    return [
      ...withoutNumber(requests, views).map(say(path)),
      ...[...ofKeys].flatMap(([key, some]) => {
        const stream = { rule, requests: some, places: placesOf(some), views, posted };
        return STREAM_RULES.flatMap((broken) => broken(stream)).map(say(`${path} ${key}`));
      }),
    ];
  });
};

/** Each has its findings in a stream, in words. */
const STREAM_RULES: readonly ((stream: Stream) => string[])[] = [
  numberedTwice,
  wrongHeaders,
  overtaken,
  leftOut,
  postedLater,
];

/** A delivery that was sent again may have no number: its endpoint got it by a replay. */
function withoutNumber(requests: readonly Received[], views: Stream['views']): string[] {
  return requests
    .filter(({ eventId, order: of }) => {
      const delivery = views.get(eventId);
      return !of && !(delivery && wasResent(delivery));
    })
    .map(({ eventId }) => `${eventId} came without a number`);
}

function placesOf(requests: readonly Received[]): Place[] {
  const places = new Map<string, Place>();
  for (const request of requests) {
    const { eventId, atMs, order: { number = 0 } = {} } = request;
    const id = `${number} ${eventId}`;
    const place = places.get(id) ?? { number, eventId, firstMs: atMs, doneMs: undefined };
    if (isSuccess(request)) place.doneMs ??= request.answeredMs;
    places.set(id, place);
  }
  return [...places.values()].sort((a, b) => a.number - b.number);
}

function numberedTwice({ places }: Stream): string[] {
  const numbers = [...groupedBy(places, ({ number }) => number)];
  const events = [...groupedBy(places, ({ eventId }) => eventId)];
  return [
    ...numbers
      .filter(([, some]) => some.length > 1)
      .map(
        ([number, some]) => `number ${number} is of ${some.map(({ eventId }) => eventId).join(' and of ')}`,
      ),
    ...events
      .filter(([, some]) => some.length > 1)
      .map(([eventId, some]) => `${eventId} has the numbers ${some.map(({ number }) => number)}`),
  ];
}

/**
 * Numbers have no gaps, so the one before is lower by one. Else a receiver that has the one before would take for
 * complete what is not, or wait for what there is not.
 */
function wrongHeaders({ requests, rule }: Stream): string[] {
  return requests.flatMap(({ order: { number = 0, previous, key } = {} }) => {
    const isKeyWrong = (key === undefined) !== (rule.ordering === 'endpoint');
    return [
      ...((previous ?? 0) === number - 1 ? [] : [`number ${number} names ${previous} as the one before`]),
      ...(isKeyWrong ? [`number ${number} came ${key === undefined ? 'without a' : 'with the'} key`] : []),
    ];
  });
}

/** A delivery comes after all in front of it. */
function overtaken({ rule, places, views, posted }: Stream): string[] {
  return places.flatMap(({ number, firstMs }, at) =>
    places.slice(0, at).flatMap((before) => {
      const { eventId, doneMs } = before;
      const isDone = doneMs !== undefined && doneMs <= firstMs;
      if (isDone || before.number === number) return [];
      if (isGivenUp(rule, views.get(eventId), posted.get(eventId), firstMs)) return [];
      const done = doneMs === undefined ? 'was not delivered' : `was delivered ${doneMs - firstMs} ms later`;
      return [`number ${number} came before ${before.number}, which ${done}`];
    }),
  );
}

/**
 * Whether a delivery held up nobody at a time, by what somebody did to it or by the endpoint's rule.
 *
 * @param atMs milliseconds since the epoch
 */
function isGivenUp(
  { order_skip, order_skip_after }: OrderRule,
  delivery: DeliveryViews | undefined,
  event: Posted | undefined,
  atMs: number,
): boolean {
  const record = delivery && recordOf(delivery);
  if (delivery && (record?.status === 'cancelled' || wasResent(delivery))) return true;
  if (order_skip === 'exhausted' && Date.parse(record?.closed_at ?? '') <= atMs) return true;
  // It took its place after it was posted, and held up others after that.
  const heldUpMs = atMs - (event?.postedMs ?? 0) + CLOCKS_DIFFER_MS;
  return order_skip_after !== undefined && heldUpMs >= parseDuration(order_skip_after);
}

/** A number that never came is of a delivery that was given up before its receiver got a request. */
function leftOut({ rule, requests, places, views, posted }: Stream): string[] {
  const numbers = new Set(places.map(({ number }) => number));
  const absent = Array.from({ length: Math.max(0, ...numbers) }, (_, index) => index + 1).filter(
    (number) => !numbers.has(number),
  );
  if (absent.length === 0) return [];
  const came = new Set(requests.map(({ eventId }) => eventId));
  const orderKey = posted.get(places[0]?.eventId ?? '')?.orderKey;
  const givenUp = [...views.values()].filter((delivery) => {
    const event = posted.get(delivery.eventId);
    const isOfOrder = rule.ordering === 'endpoint' || !event || event.orderKey === orderKey;
    return (
      isOfOrder && !came.has(delivery.eventId) && isGivenUp(rule, delivery, event, Number.POSITIVE_INFINITY)
    );
  });
  return absent.length <= givenUp.length
    ? []
    : [`the numbers ${absent} never came, and ${givenUp.length} deliveries were given up before`];
}

function postedLater({ places, posted }: Stream): string[] {
  return places.flatMap(({ number, eventId }, at) => {
    const [own, next] = [posted.get(eventId), posted.get(places[at + 1]?.eventId ?? '')];
    if (!own || !next || own.scheduled || next.scheduled || !isAfter(own, next)) return [];
    return [`number ${number} was posted after the response to the event of a later number`];
  });
}

/** Whether an event was posted after another one had been accepted. */
function isAfter(own: Posted, other: Posted): boolean {
  return (own.postedMs ?? 0) > (other.acknowledgedMs ?? Number.POSITIVE_INFINITY);
}
