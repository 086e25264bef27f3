import { shorten } from '../text.js';
import { type Filter, matchesFilter } from './match-filter.js';
import { ExactValue, PayloadValues, pathOf } from './payload-values.js';

/** A part of a filter that decided against a payload. */
export interface DecidingClause {
  /** Where it is in the filter, as a JSON Pointer (RFC 6901). */
  clause: string;
  /** The JSON Pointer into the payload that it compares; absent if it combines several. */
  path?: string;
  /** The condition itself. */
  condition: Filter;
  /**
   * Value of the payload at the path; absent if there is none, or none that fits here. A number with too many digits
   * for a double is a text.
   */
  found?: string | number | boolean | null;
}

const MAX_CLAUSES = 10;
const MAX_SHOWN = 100;

/**
 * Which parts of a filter are the reason that a payload does not meet it: of `all` those that are not met, of `any`
 * every part, of `not` the whole. At most ten.
 *
 * @returns none if the payload meets the filter
 */
export function decidingClauses(filter: Filter, payload: unknown, clause = ''): DecidingClause[] {
  const values = PayloadValues.of(payload);
  if (matchesFilter(filter, values)) return [];
  const parts = 'all' in filter ? filter.all : 'any' in filter ? filter.any : undefined;
  if (parts) {
    const name = 'all' in filter ? 'all' : 'any';
    return parts
      .flatMap((part, index) => decidingClauses(part, values, `${clause}/${name}/${index}`))
      .slice(0, MAX_CLAUSES);
  }
  const path = comparedPath(filter);
  const found = path === undefined ? undefined : shown(values.at(pathOf(path)));
  return [
    {
      clause,
      ...(path !== undefined && { path }),
      condition: filter,
      ...(found !== undefined && { found }),
    },
  ];
}

/** A condition as people write it: `/total at_least 100`. */
export function describeCondition(condition: Filter): string {
  if ('not' in condition) return `not ${describeCondition(condition.not)}`;
  if ('path' in condition) {
    const { path, ...test } = condition;
    const [name, value] = Object.entries(test)[0] ?? [];
    return `${path} ${name} ${shorten(JSON.stringify(value), MAX_SHOWN)}`;
  }
  return shorten(JSON.stringify(condition), MAX_SHOWN);
}

/** Path that a condition, or one that it negates, compares. */
function comparedPath(filter: Filter): string | undefined {
  if ('not' in filter) return comparedPath(filter.not);
  return 'path' in filter ? filter.path : undefined;
}

/** @returns `undefined` for what does not fit */
function shown(value: unknown): DecidingClause['found'] {
  if (value instanceof ExactValue) return shown(value.text);
  if (typeof value === 'string') return value.length <= MAX_SHOWN ? value : undefined;
  return value === null || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}
