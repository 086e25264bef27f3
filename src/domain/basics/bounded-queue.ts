import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';
import { roomFor } from './bounded-memory.js';

/** The queue is full. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/**
 * Runs some tasks at once, queues some, and refuses the rest.
 *
 * @returns runs a task in its turn; rejects with {@link QueueFullError} at once if too many wait
 */
export function boundedQueue({ running, waiting }: { running: number; waiting: number }) {
  const limit = pLimit(running);
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (limit.activeCount >= running && limit.pendingCount >= waiting)
      throw new QueueFullError(`${waiting} tasks are waiting already`);
    return limit(task);
  };
}

/**
 * Queues by key, each of which runs some tasks at once: no key waits for another.
 *
 * @param keys so many queues are remembered, those that were used last
 */
export function queuesByKey(running: number, keys: number): (key: string) => LimitFunction {
  const queues = new LRUCache<string, LimitFunction>({ ...roomFor(keys), memoMethod: () => pLimit(running) });
  return (key) => queues.memo(key);
}
