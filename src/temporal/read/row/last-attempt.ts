import { LRUCache } from 'lru-cache';
import type { AttemptCause, Cause } from '../../../domain/attempt/cause.js';
import { isClosed } from '../../../domain/delivery/delivery.js';
import { type LastAttempt, lastOf, resultOf } from '../attempt-view.js';
import type { DeliveryRow } from '../delivery-view.js';
import type { Located, RowReader } from '../row-reader.js';

/** What is remembered of closed deliveries, some 100 bytes each. */
const MAX_REMEMBERED = 20_000;

/** Tells the latest attempts of rows of a list. */
export class LastAttempts {
  /** Of deliveries that are closed, by run and index: they have no further attempt in that run. */
  private readonly closed = new LRUCache<string, LastAttempt>({ max: MAX_REMEMBERED });

  /**
   * The latest attempt of a row: of an open delivery as its memo tells it, of a closed one as its record does.
   *
   * @param rows reads records, each once for the list
   * @returns `undefined` before the first attempt has ended, and of an open delivery whose memo says something else
   */
  async of(located: Located, rows: RowReader): Promise<LastAttempt | undefined> {
    const { execution, row } = located;
    if (!isClosed(row.summary.status)) return lastInMemo(row);
    const key = `${execution.runId} ${row.index}`;
    const known = this.closed.get(key);
    if (known) return known;
    const last = lastOf((await rows.record(located))?.attempts ?? []);
    if (last && execution.status.name !== 'RUNNING') this.closed.set(key, last);
    return last;
  }
}

function lastInMemo({ state }: DeliveryRow): LastAttempt | undefined {
  const attempt = attemptIn(state?.cause);
  if (attempt) return { number: attempt.number, ...resultOf(attempt) };
  return state?.attempts ? { number: state.attempts } : undefined;
}

function attemptIn(cause: Cause | undefined): AttemptCause | undefined {
  if (cause?.code === 'park_limit') return attemptIn(cause.before);
  return cause?.code === 'attempt' ? cause : undefined;
}
