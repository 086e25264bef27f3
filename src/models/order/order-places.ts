import { type Connection, mongo } from 'mongoose';
import { deliveryId } from '../../domain/basics/delivery-id.js';
import { UNITS } from '../../domain/basics/duration.js';
import {
  type OrderedDelivery,
  type OrderPlaces,
  PLACE_KEPT_DAYS,
  type PlacedDelivery,
  type StreamState,
} from '../../domain/order/delivery-order.js';
import { type OrderPlace, streamOf } from '../../domain/order/order-rule.js';
import { factsIn, summaryIn } from '../../domain/records/stored-views.js';
import { sharedDate } from '../../domain/time/shared-time.js';
import { collection, type DocumentIn, driverCollection, may, must } from '../mongo/collection.js';
import { isDuplicateKey } from '../mongo/duplicate-key.js';
import { deliveries } from '../records/row-documents.js';

/** A stream without events for so long begins again at 1, milliseconds. */
const STREAM_KEPT_MS = 400 * UNITS.d;

/** Deliveries at their places. A number is in the id, so it is given once. */
const places = collection('order_places', {
  /** Stream and number. */
  _id: must(String),
  delivery_id: must(String, { unique: true }),
  event_id: must(String),
  at: must(Date),
  expires_at: must(Date, { expires: 0 }),
});
type PlaceDocument = DocumentIn<typeof places>;

const streams = collection('order_streams', {
  _id: must(String),
  /** See `StreamState`. */
  last: may(Number),
  passed: may(Number),
  passed_at: may(Date),
  expires_at: may(Date, { expires: 0 }),
});

/**
 * Places of deliveries in the orders of their endpoints. A place is taken after its event is stored, and its number is
 * the next after one that is taken; so each number has a delivery, whatever dies in between.
 */
export class OrderPlaceRepository implements OrderPlaces {
  private readonly places: ReturnType<typeof places>;
  private readonly streams: ReturnType<typeof streams>;
  private readonly rows: ReturnType<typeof deliveries>;

  constructor(connection: Connection) {
    this.places = places(connection);
    this.streams = streams(connection);
    this.rows = deliveries(connection);
  }

  async take(wanted: readonly OrderedDelivery[]): Promise<Map<string, OrderPlace>> {
    const taken = new Map<string, OrderPlace>();
    /** Numbers that are known to be taken, by stream. */
    const known = new Map<string, number>();
    let left = wanted;
    let refused: PlaceDocument | undefined;
    while (left.length > 0) {
      if (refused) {
        for (const [id, place] of await this.placesOf(left.map(deliveryId))) taken.set(id, place);
        left = left.filter((one) => !taken.has(deliveryId(one)));
        // Somebody else has its number.
        const { stream, number } = placeIn(refused._id);
        if (!taken.has(refused.delivery_id)) known.set(stream, Math.max(known.get(stream) ?? 0, number));
      }
      await this.readLast([...new Set(left.map(streamOf))], known);
      const documents = toDocuments(left, known);
      const stored = await this.insertInOrder(documents);
      for (const { _id, delivery_id } of documents.slice(0, stored)) taken.set(delivery_id, placeIn(_id));
      refused = documents[stored];
      left = left.slice(stored);
    }
    await this.noteLast([...taken.values()]);
    return taken;
  }

  async find(key: Parameters<OrderPlaces['find']>[0]): Promise<OrderPlace | undefined> {
    const id = deliveryId(key);
    return (await this.placesOf([id])).get(id);
  }

  /** The event whose delivery has a place; `undefined` if none has it, or it is not kept any more. */
  async eventAt(place: OrderPlace): Promise<string | undefined> {
    return (await this.places.findById(placeId(place), { event_id: 1 }).lean())?.event_id;
  }

  async state(stream: string): Promise<StreamState> {
    const found = await this.streams.findOne({ _id: stream }).lean();
    return {
      last: found?.last ?? 0,
      passed: found?.passed ?? 0,
      passed_at: found?.passed_at?.getTime() ?? 0,
    };
  }

  async between(stream: string, first: number, last: number): Promise<Map<number, PlacedDelivery>> {
    const ids = Array.from({ length: last - first + 1 }, (_, index) =>
      placeId({ stream, number: first + index }),
    );
    const found = await this.places.find({ _id: { $in: ids } }).lean();
    const rows = await this.rows
      .find({ _id: { $in: found.map(({ delivery_id }) => delivery_id) } }, { status: 1, summary: 1 })
      .lean();
    const rowOf = new Map(rows.map((row) => [row._id, row]));
    const [endpoint_id = ''] = stream.split(' ');
    return new Map(
      found.map(({ _id, delivery_id, event_id, at }) => {
        const row = rowOf.get(delivery_id);
        const { number } = placeIn(_id);
        return [
          number,
          {
            ...{ event_id, endpoint_id, number, at: at.getTime(), status: row?.status },
            ...(row && factsIn(row).in_order && { waits_in: summaryIn(row).workflow_id }),
          },
        ];
      }),
    );
  }

  async pass(stream: string, number: number, at: number): Promise<void> {
    await this.streams.updateOne({ _id: stream }, { $max: { passed: number, passed_at: new Date(at) } });
  }

  private async placesOf(ids: readonly string[]): Promise<Map<string, OrderPlace>> {
    const found = await this.places.find({ delivery_id: { $in: [...ids] } }, { delivery_id: 1 }).lean();
    return new Map(found.map(({ _id, delivery_id }) => [delivery_id, placeIn(_id)]));
  }

  /** Raises known numbers to those that are written. */
  private async readLast(ids: readonly string[], known: Map<string, number>): Promise<void> {
    for (const { _id, last } of await this.streams.find({ _id: { $in: [...ids] } }, { last: 1 }).lean())
      known.set(_id, Math.max(known.get(_id) ?? 0, last ?? 0));
  }

  /** @returns how many were stored before the first that was refused: so no number is left out */
  private async insertInOrder(documents: readonly PlaceDocument[]): Promise<number> {
    if (documents.length === 0) return 0;
    try {
      await driverCollection(this.places).insertMany([...documents], { ordered: true });
      return documents.length;
    } catch (error) {
      if (!isDuplicateKey(error) || !(error instanceof mongo.MongoBulkWriteError)) throw error;
      return [error.writeErrors].flat()[0]?.index ?? 0;
    }
  }

  private async noteLast(taken: readonly OrderPlace[]): Promise<void> {
    const last = new Map<string, number>();
    for (const { stream, number } of taken) last.set(stream, Math.max(last.get(stream) ?? 0, number));
    const expires_at = new Date(sharedDate().getTime() + STREAM_KEPT_MS);
    await this.streams.bulkWrite(
      [...last].map(([_id, number]) => ({
        updateOne: { filter: { _id }, update: { $max: { last: number, expires_at } }, upsert: true },
      })),
      { ordered: false },
    );
  }
}

/** Places for deliveries, each the next in its stream. */
function toDocuments(some: readonly OrderedDelivery[], known: ReadonlyMap<string, number>): PlaceDocument[] {
  const at = sharedDate();
  const expires_at = new Date(at.getTime() + PLACE_KEPT_DAYS * UNITS.d);
  const last = new Map(known);
  return some.map((one) => {
    const stream = streamOf(one);
    const number = (last.get(stream) ?? 0) + 1;
    last.set(stream, number);
    const { event_id } = one;
    return { _id: placeId({ stream, number }), delivery_id: deliveryId(one), event_id, at, expires_at };
  });
}

function placeId({ stream, number }: OrderPlace): string {
  return `${stream} ${number}`;
}

function placeIn(id: string): OrderPlace {
  const end = id.lastIndexOf(' ');
  return { stream: id.slice(0, end), number: Number(id.slice(end + 1)) };
}
