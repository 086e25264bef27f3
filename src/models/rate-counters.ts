import { type Connection, Schema } from 'mongoose';
import { RateLimiterMemory, RateLimiterMongo, type RateLimiterRes } from 'rate-limiter-flexible';
import { within } from '../domain/within.js';

/** Makes counters: `name` keeps them apart, `points` are allowed in `duration_s` seconds. */
export type CounterFactory = (options: { name: string; points: number; duration_s: number }) => Counter;

/** A counter as rate-limiter-flexible has it. It rejects with a `RateLimiterRes` beyond its points, with an `Error` without its store. */
export interface Counter {
  consume(key: string): Promise<RateLimiterRes>;
  block(key: string, seconds: number): Promise<unknown>;
}

/** Counters of this process alone. */
export const memoryCounters: CounterFactory = ({ name, points, duration_s }) =>
  new RateLimiterMemory({ keyPrefix: name, points, duration: duration_s });

const COLLECTION = 'rate_limits';

const schema = new Schema({ key: String, points: Number, expire: Date }, { versionKey: false });
schema.index({ key: 1 }, { unique: true });
schema.index({ expire: 1 }, { expireAfterSeconds: 0 });

/** Counters in MongoDB, shared by every process that uses the database. */
export function mongoCounters(connection: Connection): CounterFactory {
  connection.model('rate_limit', schema, COLLECTION);
  return ({ name, points, duration_s }) => {
    const counter = new RateLimiterMongo({
      storeClient: connection.getClient(),
      dbName: connection.name,
      tableName: COLLECTION,
      keyPrefix: name,
      points,
      duration: duration_s,
      disableIndexesCreation: true,
    });
    return {
      consume: (key) => within(TIMEOUT_MS, counter.consume(key)),
      block: (key, seconds) => within(TIMEOUT_MS, counter.block(key, seconds)),
    };
  };
}

/** How long a request waits for its counter, milliseconds. */
const TIMEOUT_MS = 500;
