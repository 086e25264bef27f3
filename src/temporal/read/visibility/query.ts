import { ACCOUNT_ATTRIBUTE, EVENT_ATTRIBUTE } from '../../../domain/ledger/search-attributes.js';

/** One condition of a visibility query. Only this file makes them, so no text gets into a query unquoted. */
export type Clause = string & { readonly [clause]: true };
declare const clause: unique symbol;

/**
 * Characters that a literal must not contain. Temporal's parser reads a backslash as the start of an escape, so `\'`
 * would end a literal early, and compares escaped quotes as they are written, so a text with a quote is never found.
 * Control characters end a query or are refused.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it is for
const UNQUOTABLE = /['"\\\u0000-\u001f\u007f]/;

/** The attribute has this value; for a keyword list: contains it. */
export function equals(attribute: string, value: string): Clause {
  return `${attribute} = ${quote(value)}` as Clause;
}

/** The attribute has one of these values; for a keyword list: contains one of them. */
export function isOneOf(attribute: string, values: readonly string[]): Clause {
  if (values.length === 0) throw new RangeError(`no values to compare ${attribute} with`);
  return `${attribute} IN (${values.map(quote).join(', ')})` as Clause;
}

/** All accounts together: only for counts that name no account, and for what the installation does itself. */
export const EVERY_ACCOUNT = Symbol('every account');

/** Conditions on executions besides their account; several values are alternatives. */
interface Sought {
  type?: string | readonly string[];
  status?: string | readonly string[];
  taskQueue?: string;
  event?: string;
  startedAfter?: Date;
  /** At this time or later, or just before. */
  closedSince?: Date;
}

/**
 * The clauses that find executions by all of this.
 *
 * @param whose which account's: nobody gets those of all by leaving something out
 */
export function where(whose: string | typeof EVERY_ACCOUNT, sought: Sought): Clause[] {
  const { type, status, taskQueue, event, startedAfter, closedSince } = sought;
  return [
    ...has('WorkflowType', type),
    ...has('ExecutionStatus', status),
    ...has('TaskQueue', taskQueue),
    ...has(ACCOUNT_ATTRIBUTE.name, whose === EVERY_ACCOUNT ? undefined : whose),
    ...has(EVENT_ATTRIBUTE.name, event),
    ...isAfter('StartTime', startedAfter),
    // SQL stores compare times as texts, which for a time with zeros at its end is not exact.
    ...isAfter('CloseTime', closedSince && new Date(closedSince.getTime() - 2)),
  ];
}

function has(attribute: string, values: string | readonly string[] | undefined): Clause[] {
  if (values === undefined) return [];
  return [typeof values === 'string' ? equals(attribute, values) : isOneOf(attribute, values)];
}

function isAfter(attribute: string, time: Date | undefined): Clause[] {
  return time === undefined ? [] : [`${attribute} > ${quote(time.toISOString())}` as Clause];
}

/** The query that executions match if they match every clause. */
export function toQuery(clauses: readonly Clause[]): string {
  return clauses.join(' AND ');
}

/** @throws RangeError for a text that must not get this far: parameters of requests are validated before */
function quote(text: string): string {
  if (UNQUOTABLE.test(text))
    throw new RangeError('a visibility query cannot contain quotes, backslashes or control characters');
  return `'${text}'`;
}
