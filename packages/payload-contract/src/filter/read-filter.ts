import { shorten } from '../text.js';
import { FILTER_BOUNDS } from './filter-bounds.js';
import type { Filter } from './match-filter.js';

/** A place in a filter, from its root. */
type Place = readonly (string | number)[];
/** Mistake at a place. The detail is the end of a sentence that begins with the place, such as `must be a string`. */
export interface FilterMistake {
  place: Place;
  detail: string;
}

const POINTER = /^(\/([^~]|~[01])*)?$/;
const NO_CONDITION = 'must be a condition, such as {"path": "/total", "at_least": 100}';
/** Characters of an unknown operator that an error repeats. */
const MAX_NAME_TOLD = 40;

/**
 * Finds the first mistake of a filter: of its shape or its bounds. It looks at no more of what was sent than the bounds
 * reach, so that it takes the same time however large that is.
 *
 * @returns `undefined` if the value is a {@link Filter} within its bounds
 */
export function findMistake(value: unknown): FilterMistake | undefined {
  const mistake = new Walk().condition(value, []);
  if (mistake) return mistake;
  return JSON.stringify(value).length > FILTER_BOUNDS.size
    ? { place: [], detail: `must be at most ${FILTER_BOUNDS.size} characters of JSON` }
    : undefined;
}

class Walk {
  private conditions = 0;

  condition(value: unknown, place: Place): FilterMistake | undefined {
    const depth = place.filter((part) => typeof part === 'string').length + 1;
    if (depth > FILTER_BOUNDS.depth) return whole(`must be nested at most ${FILTER_BOUNDS.depth} deep`);
    this.conditions += 1;
    if (this.conditions > FILTER_BOUNDS.conditions) return tooMany();
    if (typeof value !== 'object' || value === null) return { place, detail: NO_CONDITION };
    const condition = value as Record<string, unknown>;
    const [first = '', second, third] = firstNames(condition);
    if (second === undefined) {
      const within = [...place, first];
      if (first === 'all' || first === 'any') return this.parts(condition[first], within);
      return first === 'not' ? this.condition(condition[first], within) : { place, detail: NO_CONDITION };
    }
    const name = first === 'path' ? second : first;
    if (third !== undefined || !Object.hasOwn(condition, 'path')) return { place, detail: NO_CONDITION };
    if (!Object.hasOwn(TESTS, name)) return { place, detail: unknownOperator(name) };
    const detail = wrongPath(condition['path']);
    if (detail) return { place: [...place, 'path'], detail };
    const wrong = TESTS[name as keyof typeof TESTS](condition[name]);
    return wrong === undefined ? undefined : { place: [...place, name], detail: wrong };
  }

  parts(value: unknown, place: Place): FilterMistake | undefined {
    if (!Array.isArray(value) || value.length === 0)
      return { place, detail: 'must be a list of at least 1 condition' };
    if (value.length > FILTER_BOUNDS.conditions) return tooMany();
    for (const [index, part] of value.entries()) {
      const mistake = this.condition(part, [...place, index]);
      if (mistake) return mistake;
    }
    return undefined;
  }
}

/**
 * Tests of a value, by name, so that none is tried after another: each returns what is wrong with its operand, if
 * anything is.
 */
const TESTS = {
  exists: (value: unknown) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  equals: wrongScalar,
  in: wrongList,
  greater_than: wrongLimit,
  at_least: wrongLimit,
  less_than: wrongLimit,
  at_most: wrongLimit,
};

/** Operators of Hookline by the names that other languages of queries have for them. */
const ELSEWHERE: Readonly<Record<string, keyof typeof TESTS>> = {
  ...{ eq: 'equals', '=': 'equals', '==': 'equals', is: 'equals', one_of: 'in', gt: 'greater_than' },
  ...{ '>': 'greater_than', gte: 'at_least', ge: 'at_least', '>=': 'at_least', min: 'at_least' },
  ...{ lt: 'less_than', '<': 'less_than', lte: 'at_most', le: 'at_most', '<=': 'at_most', max: 'at_most' },
};

function unknownOperator(name: string): string {
  const known = name.replace(/^\$/, '').toLowerCase();
  const meant = Object.hasOwn(ELSEWHERE, known) ? ` Did you mean "${ELSEWHERE[known]}"?` : '';
  const names = Object.keys(TESTS).join(', ');
  return `must have an operator: ${JSON.stringify(shorten(name, MAX_NAME_TOLD))} is none. There are: ${names}.${meant}`;
}

/** The first three names; an object may have thousands. */
function firstNames(object: object): string[] {
  const names: string[] = [];
  for (const name in object) {
    names.push(name);
    if (names.length === 3) break;
  }
  return names;
}

function wrongPath(path: unknown): string | undefined {
  if (typeof path !== 'string') return 'must be a string';
  if (path.length > FILTER_BOUNDS.text) return `must have at most ${FILTER_BOUNDS.text} characters`;
  if (!POINTER.test(path)) return 'must be a JSON Pointer, such as /total or /items/0/name';
  return path.split('/').length - 1 > FILTER_BOUNDS.levels
    ? `must have at most ${FILTER_BOUNDS.levels} levels`
    : undefined;
}

function wrongList(values: unknown): string | undefined {
  if (!Array.isArray(values) || values.length === 0) return 'must be a list of at least 1 value';
  if (values.length > FILTER_BOUNDS.values) return `must have at most ${FILTER_BOUNDS.values} values`;
  return values.every((value) => wrongScalar(value) === undefined)
    ? undefined
    : `must hold texts of at most ${FILTER_BOUNDS.text} characters, numbers, true, false or null`;
}

function wrongScalar(value: unknown): string | undefined {
  return value === null || typeof value === 'boolean' || wrongLimit(value) === undefined
    ? undefined
    : `must be a text of at most ${FILTER_BOUNDS.text} characters, a number, true, false or null`;
}

function wrongLimit(value: unknown): string | undefined {
  // A number such as 1e999 is read as infinity, which is no JSON.
  return Number.isFinite(value) || (typeof value === 'string' && value.length <= FILTER_BOUNDS.text)
    ? undefined
    : `must be a number or a text of at most ${FILTER_BOUNDS.text} characters`;
}

function tooMany(): FilterMistake {
  return whole(`must have at most ${FILTER_BOUNDS.conditions} conditions`);
}

function whole(detail: string): FilterMistake {
  return { place: [], detail };
}
