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

/** The attribute has another value. */
export function isNot(attribute: string, value: string): Clause {
  return `${attribute} != ${quote(value)}` as Clause;
}

/** The attribute, a keyword, begins with this. */
export function beginsWith(attribute: string, text: string): Clause {
  return `${attribute} STARTS_WITH ${quote(text)}` as Clause;
}

/** The attribute, a point in time, is later than this. */
export function isAfter(attribute: string, time: Date): Clause {
  return `${attribute} > ${quote(time.toISOString())}` as Clause;
}

/** The attribute, a point in time, is earlier than this. */
export function isBefore(attribute: string, time: Date): Clause {
  return `${attribute} < ${quote(time.toISOString())}` as Clause;
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
