import { mongo } from 'mongoose';

/** Fields of a document that are of the event; others are its owner's. Those but `payload` are as in `POST /events`. */
const EVENT_FIELDS = ['kind', 'keys', 'subject', 'order_key', 'endpoint_ids', 'schema_version'] as const;

type OutboxDocument = Record<string, unknown> & { _id: mongo.ObjectId };

/** An event that waits in an outbox. */
export interface WaitingEvent {
  /** The producer chooses its type. */
  id: mongo.ObjectId;
  /** An event of `POST /events` as JSON. */
  text: string;
}

/** Fields that mark a document: its event was accepted, or cannot be. */
export type OutboxMark = { published_at: Date; event_id: string } | { refused_at: Date; problem: string };

/**
 * A collection in the database of a producer. It writes a document with the kind and the payload of an event in the
 * transaction that the event is about.
 */
export class Outbox {
  private readonly client: mongo.MongoClient;
  private readonly collection: mongo.Collection<OutboxDocument>;

  private constructor(client: mongo.MongoClient, collection: string) {
    this.client = client;
    this.collection = client.db().collection(collection);
  }

  /** @throws Error if the server does not answer within 5 seconds */
  static async open(uri: string, collection: string): Promise<Outbox> {
    const client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 5_000, socketTimeoutMS: 30_000 });
    return new Outbox(await client.connect(), collection);
  }

  /** The first events that wait, in the order of their ids. */
  async next(limit: number): Promise<WaitingEvent[]> {
    const projection = Object.fromEntries([...EVENT_FIELDS, 'payload'].map((name) => [name, 1]));
    const waiting = this.collection.find({ published_at: null, refused_at: null }, { projection });
    return (await waiting.sort({ _id: 1 }).limit(limit).toArray()).map(toWaiting);
  }

  /** Marks a document. If another reader has done so, its mark stays. */
  async mark(id: mongo.ObjectId, mark: OutboxMark): Promise<void> {
    await this.collection.updateOne({ _id: id, published_at: null, refused_at: null }, { $set: mark });
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** The id is the idempotency key. A payload that is a text is sent as it stands. */
function toWaiting({ _id: id, payload, ...fields }: OutboxDocument): WaitingEvent {
  const rest = JSON.stringify({ idempotency_key: String(id), ...fields });
  const text = typeof payload === 'string' ? payload : (JSON.stringify(payload) ?? 'null');
  return { id, text: `${rest.slice(0, -1)},"payload":${text}}` };
}
