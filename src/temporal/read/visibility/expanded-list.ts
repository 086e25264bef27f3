import type { Client } from '@temporalio/client';
import { z } from 'zod';
import { positionBefore, positionBehind } from '../../../domain/archive/archived.js';
import { isOfDeliveries } from '../../../domain/ledger/workflow-ids.js';
import { decodeCursor, encodeCursor } from './cursor.js';
import { type Clause, isBefore } from './query.js';
import { describeExecution, type Execution, listExecutions, type Page } from './visibility.js';

/** Where a page begins: with the rest of an execution, if it names one, and then with Temporal's page of that token. */
interface Cursor {
  /** Empty for the first page, or, behind the list's last execution, {@link END}. */
  token: string;
  within?: { workflow_id: string; run_id: string; skip: number };
}

/** In place of a token: nothing follows. No token of Temporal's has this character. */
const END = '.';

const RUN_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const PARTS = z.union([
  z.tuple([z.string(), z.null(), z.null(), z.null()]),
  // Anything else than such ids stands for nothing in a list, and Temporal may refuse it.
  z.tuple([z.string(), z.string().refine(isOfDeliveries), z.string().regex(RUN_ID), z.int().nonnegative()]),
]);

/**
 * Executions that are asked for at first, and how many times more are each time after. Each costs Temporal as much as a
 * short call, and a group can stand for a whole page.
 */
const EXECUTIONS = { first: 5, growth: 4 };

/** A page, and how far it looked. */
export interface ExpandedPage<T> extends Page<T> {
  /**
   * The position above which it looked at everything (`positionAt`); absent on the last page, and while it is among
   * open executions.
   */
  upTo?: string | undefined;
}

export interface Expansion<T> {
  /**
   * What an execution stands for, always in the same order, with `undefined` for what is not in the list: so a cursor's
   * place in it stays where it is while the execution goes on.
   */
  expand(execution: Execution): (T | undefined)[];
  /** Those of some items that are to be listed; receives at most as many items as a page has. */
  keep?(items: T[]): Promise<T[]>;
  /** Executions and items that are looked at for one page, about: after them it ends, even with few rows. */
  maxExamined?: number;
  /** Whether as much has been done for the page as may be: it ends in the same way. */
  isSpent?(): boolean;
}

/**
 * A page of what executions stand for: one item each, or several if an execution is a group. A page may end in the
 * middle of a group; the next page continues there, whatever has been started or has closed meanwhile.
 *
 * @param after the cursor of an earlier page
 * @throws InvalidCursorError if the cursor did not come from this list
 */
export async function listExpanded<T>(
  client: Client,
  clauses: readonly Clause[],
  {
    expand,
    keep = async (items) => items,
    maxExamined = Number.POSITIVE_INFINITY,
    isSpent = () => false,
  }: Expansion<T>,
  limit: number,
  after: string | undefined,
): Promise<ExpandedPage<T>> {
  let cursor: Cursor = after === undefined ? { token: '' } : fromText(after);
  const data: T[] = [];
  let examined = 0;
  let lastExecution: Execution | undefined;
  const isFull = () => data.length >= limit || examined >= maxExamined || isSpent();
  let read = 0;
  for (let size = EXECUTIONS.first; ; size *= EXECUTIONS.growth) {
    // While each stands for one item, no more are read than there is room for: the token behind a row in the middle
    // would cost as much again.
    const room = data.length === read ? limit - read : limit;
    const { executions, next } = await readPage(client, clauses, Math.min(size, room), cursor);
    read += executions.length;
    examined += executions.length;
    const items = executions.flatMap((execution, row) => {
      const skip = row === 0 ? (cursor.within?.skip ?? 0) : 0;
      return expand(execution).flatMap((item, index) =>
        item === undefined || index < skip ? [] : [{ item, row, index }],
      );
    });
    let taken = 0;
    while (taken < items.length && !isFull()) {
      const some = items.slice(taken, taken + limit - data.length);
      data.push(...(await keep(some.map(({ item }) => item))));
      taken += some.length;
      examined += some.length;
    }
    const rest = items[taken];
    const execution = rest && executions[rest.row];
    if (rest && execution) {
      const { workflowId: workflow_id, runId: run_id } = execution;
      const isLast = rest.row === executions.length - 1;
      const token = isLast
        ? next
        : await tokenBehind(client, clauses, cursor.token, executions.slice(0, rest.row + 1));
      const upTo = execution.closeTime && positionBefore(execution.closeTime, run_id, rest.index);
      return {
        data,
        upTo,
        after: toText({ token, within: { workflow_id, run_id, skip: rest.index } }),
      };
    }
    if (next === END) return { data };
    cursor = { token: next };
    const last = executions.at(-1) ?? lastExecution;
    lastExecution = last;
    const upTo = last?.closeTime && positionBehind(last.closeTime, last.runId);
    if (isFull()) {
      // Temporal gives a full page a token even if nothing follows.
      const isEnd =
        data.length === limit && (await readPage(client, clauses, 1, cursor)).executions.length === 0;
      return isEnd ? { data } : { data, upTo, after: toText(cursor) };
    }
  }
}

/**
 * The executions from a cursor on: the one that it is within, or a page of Temporal's.
 *
 * @returns the token of those that follow
 */
async function readPage(
  client: Client,
  clauses: readonly Clause[],
  limit: number,
  { token, within }: Cursor,
): Promise<{ executions: Execution[]; next: string }> {
  if (within) {
    const execution = await describeExecution(client, within.workflow_id, within.run_id);
    return { executions: execution ? [execution] : [], next: token };
  }
  const { data, after } = await listExecutions(client, clauses, limit, token || undefined);
  return { executions: data, next: after ?? END };
}

/**
 * The token of what follows a row of a page. Temporal gives tokens for the ends of pages alone, so a page is read that
 * ends with the row. If the row has closed since, and so has moved in the list, it is the token of what followed the
 * row before.
 */
async function tokenBehind(
  client: Client,
  clauses: readonly Clause[],
  token: string,
  rows: readonly Execution[],
): Promise<string> {
  // The first page has no token to begin at: what has been started since it was read must not move its rows.
  const latest = Math.max(...rows.map(({ startTime }) => startTime.getTime()));
  const bounded = token === '' ? [...clauses, isBefore('StartTime', new Date(latest + 1))] : clauses;
  const places = new Map(rows.map(({ runId }, row) => [runId, row]));
  let size = rows.length;
  while (size > 0) {
    const { data, after } = await listExecutions(client, bounded, size, token || undefined);
    // The last of the rows that is still where it was, at the end of the page or before what has come up from behind.
    const last = data.findLastIndex(({ runId }) => places.has(runId));
    if (last === data.length - 1 && after !== undefined) return after;
    size = Math.min(last + 1, size - 1);
  }
  return token;
}

function toText({ token, within }: Cursor): string {
  return encodeCursor([token, within?.workflow_id, within?.run_id, within?.skip]);
}

function fromText(text: string): Cursor {
  const [token, workflow_id, run_id, skip] = decodeCursor(text, PARTS);
  return workflow_id === null ? { token } : { token, within: { workflow_id, run_id, skip } };
}
