import pLimit from 'p-limit';

/** As many tasks wait already as may. */
export class QueueFullError extends Error {
  constructor(waiting: number) {
    super(`${waiting} tasks are waiting already`);
    this.name = 'QueueFullError';
  }
}

/**
 * Runs some tasks at once, queues some, and refuses the rest.
 *
 * @returns runs a task in its turn; rejects with {@link QueueFullError} at once if too many wait
 */
export function boundedQueue({ running, waiting }: { running: number; waiting: number }) {
  const limit = pLimit(running);
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (limit.activeCount >= running && limit.pendingCount >= waiting) throw new QueueFullError(waiting);
    return limit(task);
  };
}
