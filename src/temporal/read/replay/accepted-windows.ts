import type { Client } from '@temporalio/client';
import { ACCEPTED_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';
import { type Clause, isAfter, isBefore } from '../visibility/query.js';
import { type Execution, listExecutions } from '../visibility/visibility.js';

/** Executions of one window, unless a single millisecond has more. */
const MAX_EXECUTIONS = 200;
const LIST_AT_ONCE = 1_000;
/** The first width that is tried, milliseconds: a minute. */
export const FIRST_WIDTH_MS = 60_000;

/** Executions of events that were accepted from one time until before another. Milliseconds since the epoch. */
export interface AcceptedWindow {
  from: number;
  to: number;
  executions: Execution[];
}

/**
 * Reads the executions of a window of acceptance times. Temporal's lists move while a replay works on them, as open executions come first and
 * then those closed last; when an event was accepted never changes. A window is narrowed until a list shows all of it.
 *
 * @param window `from`: where it begins; `end`: where it ends at the latest, milliseconds since the epoch; `width`: milliseconds, it may turn
 *   out smaller, unless `isKnown`: then it is read again as it was
 */
export async function readWindow(
  client: Client,
  clauses: readonly Clause[],
  { from, end, width, isKnown }: { from: number; end: number; width: number; isKnown: boolean },
): Promise<AcceptedWindow> {
  let to = Math.min(from + width, end);
  for (;;) {
    const within = [...clauses, ...between(from, to)];
    const { data } = await listExecutions(client, within, MAX_EXECUTIONS, undefined);
    if (data.length < MAX_EXECUTIONS) return { from, to, executions: data.filter(isIn(from, to)) };
    if (isKnown || to - from <= 1) {
      const executions = await listAll(client, within);
      return { from, to, executions: executions.filter(isIn(from, to)) };
    }
    to = from + Math.floor((to - from) / 2);
  }
}

async function listAll(client: Client, clauses: readonly Clause[]): Promise<Execution[]> {
  const executions: Execution[] = [];
  let after: string | undefined;
  do {
    const page = await listExecutions(client, clauses, LIST_AT_ONCE, after);
    executions.push(...page.data);
    after = page.after;
  } while (after !== undefined);
  return executions;
}

/** A millisecond more on both sides: SQL stores compare times as texts, which for a time with zeros at its end is not exact. */
function between(from: number, to: number): Clause[] {
  return [
    isAfter(ACCEPTED_ATTRIBUTE.name, new Date(from - 2)),
    isBefore(ACCEPTED_ATTRIBUTE.name, new Date(to + 1)),
  ];
}

function isIn(from: number, to: number): (execution: Execution) => boolean {
  return ({ typedSearchAttributes }) => {
    const at = typedSearchAttributes.get(ACCEPTED_ATTRIBUTE)?.getTime() ?? Number.NaN;
    return at >= from && at < to;
  };
}
