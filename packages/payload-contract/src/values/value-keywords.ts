import { _, type FuncKeywordDefinition } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { compilePattern } from '../schema/pattern.js';
import { exactIn } from './exact-json.js';
import { compareNumbers, type ExactNumber, isMultiple } from './exact-number.js';

/** Bounds of numbers: which order of value and bound they allow, and its sign in errors. */
const BOUNDS = {
  minimum: { allows: (order: number) => order >= 0, sign: _`">="` },
  exclusiveMinimum: { allows: (order: number) => order > 0, sign: _`">"` },
  maximum: { allows: (order: number) => order <= 0, sign: _`"<="` },
  exclusiveMaximum: { allows: (order: number) => order < 0, sign: _`"<"` },
} as const;

/**
 * Replaces keywords of Ajv that would take the time of a product (of values by values, of items by items, of a pattern
 * by a text that is too long anyway), and one that computes with doubles, by which 19.99 is no multiple of 0.01.
 */
export function replaceKeywords(ajv: Ajv2020): void {
  replace(ajv, {
    keyword: 'enum',
    schemaType: 'array',
    compile(values: unknown[]) {
      const allowed = new Set(values.map((value) => keyOf(value)));
      return (value: unknown, place) => allowed.has(keyOf(value, exactAt(place)));
    },
    error: { message: '', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
  });
  replace(ajv, {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    compile: (isUnique: boolean) => (items: unknown[]) => !isUnique || countDifferent(items) === items.length,
  });
  replace(ajv, {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    compile: (divisor: number) => (value: number, place) => isMultiple(exactAt(place) ?? value, divisor),
    error: { message: '', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
  });
  replace(ajv, {
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    compile(source: string, { maxLength = Number.POSITIVE_INFINITY }) {
      const pattern = compilePattern(source);
      return (text: string) => text.length > 2 * maxLength || pattern.test(text);
    },
    error: { message: '', params: ({ schemaCode }) => _`{pattern: ${schemaCode}}` },
  });
}

/**
 * Replaces those that look at the double that stands in a number's place. For numbers that doubles represent exactly,
 * Ajv's own keywords are right and faster.
 */
export function addExactComparisons(ajv: Ajv2020): void {
  replace(ajv, {
    keyword: 'const',
    compile(expected: unknown) {
      const key = keyOf(expected);
      return (value: unknown, place) => keyOf(value, exactAt(place)) === key;
    },
    error: { message: '', params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}` },
  });
  for (const [keyword, { allows, sign }] of Object.entries(BOUNDS))
    replace(ajv, {
      keyword,
      type: 'number',
      schemaType: 'number',
      compile: (limit: number) => (value: number, place) =>
        allows(compareNumbers(exactAt(place) ?? value, limit)),
      error: { message: '', params: ({ schemaCode }) => _`{comparison: ${sign}, limit: ${schemaCode}}` },
    });
}

function replace(ajv: Ajv2020, definition: FuncKeywordDefinition & { keyword: string }): void {
  ajv.removeKeyword(definition.keyword);
  ajv.addKeyword(definition);
}

/** The number at a place, if a double cannot stand for it. */
function exactAt(place: DataValidationCxt | undefined): ExactNumber | undefined {
  if (!place || typeof place.parentData !== 'object') return undefined;
  return exactIn(place.parentData)?.get(String(place.parentDataProperty));
}

function countDifferent(items: readonly unknown[]): number {
  const exact = exactIn(items);
  return new Set(items.map((item, index) => keyOf(item, exact?.get(String(index))))).size;
}

/**
 * Equal for equal JSON values only. A scalar is its own key; those of others begin with a mark that texts have twice.
 *
 * @param exact what the value is, if it is a number that a double cannot stand for
 */
function keyOf(value: unknown, exact?: ExactNumber): unknown {
  if (exact) return exact.key;
  if (typeof value === 'object' && value !== null) return `\0${canonical(value)}`;
  return typeof value === 'string' && value.startsWith('\0') ? `\0${value}` : value;
}

/** A value as a text, with members in order of their names. No double is written as an exact number is. */
function canonical(value: unknown, exact?: ExactNumber): string {
  if (exact) return exact.key;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const within = exactIn(value);
  if (Array.isArray(value))
    return `[${value.map((item, index) => canonical(item, within?.get(String(index)))).join()}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner, within?.get(name))}`).join()}}`;
}
