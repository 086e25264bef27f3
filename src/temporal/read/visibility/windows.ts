import type { Client } from '@temporalio/client';
import { ACCEPTED_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { type Clause, isAfter, isBefore } from './query.js';
import { type Execution, listAll, listExecutions } from './visibility.js';

/** Executions of one window, unless a single millisecond has more. */
const MAX_EXECUTIONS = 200;

/** Something that happens to an execution once, so that its time never changes. */
export interface Moment {
  attribute: string;
  timeOf(execution: Execution): Date | undefined;
}

export const ACCEPTED: Moment = {
  attribute: ACCEPTED_ATTRIBUTE.name,
  timeOf: ({ typedSearchAttributes }) => typedSearchAttributes.get(ACCEPTED_ATTRIBUTE),
};
export const CLOSED: Moment = { attribute: 'CloseTime', timeOf: ({ closeTime }) => closeTime };

/** Executions with their moment from one time until before another. Milliseconds since the epoch. */
export interface Window {
  from: number;
  to: number;
  executions: Execution[];
}

/**
 * Reads the executions of a window of time. Temporal's lists move while somebody works on them, as open executions come
 * first and then those closed last; windows of a time that never changes stand still. A window is narrowed until a list
 * shows all of it.
 *
 * @param window `from`: where it begins; `end`: where it ends at the latest, milliseconds since the epoch; `width`:
 * milliseconds, it may turn out smaller, unless `isKnown`: then it is read again as it was
 */
export async function readWindow(
  client: Client,
  clauses: readonly Clause[],
  { attribute, timeOf }: Moment,
  { from, end, width, isKnown = false }: { from: number; end: number; width: number; isKnown?: boolean },
): Promise<Window> {
  for (let to = Math.min(from + width, end); ; to = from + Math.floor((to - from) / 2)) {
    // A millisecond more on both sides: SQL stores compare times as texts, which for a time with zeros at its end is
    // not exact.
    const between = [isAfter(attribute, new Date(from - 2)), isBefore(attribute, new Date(to + 1))];
    const within = [...clauses, ...between];
    const { data } = await listExecutions(client, within, MAX_EXECUTIONS);
    const isAll = data.length < MAX_EXECUTIONS;
    if (!isAll && !isKnown && to - from > 1) continue;
    const executions = (isAll ? data : await listAll(client, within)).filter((execution) => {
      const at = timeOf(execution)?.getTime() ?? Number.NaN;
      return at >= from && at < to;
    });
    return { from, to, executions };
  }
}
