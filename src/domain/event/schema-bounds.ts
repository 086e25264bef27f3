import type { InputError } from '../http/problem.js';
import { checkKeyProperties } from './business-keys.js';
import { compilePattern, patternSize } from './pattern.js';
import { MAX_PAYLOAD_BYTES } from './payload.js';
import { costOf, heaviestPart, stepsFor } from './schema-cost.js';
import {
  escapePointer,
  isSchema,
  KEYWORDS,
  LIST_KEYWORDS,
  MAP_KEYWORDS,
  referencedDefinition,
  SCHEMA_KEYWORDS,
  type Schema,
} from './schema-keywords.js';
import { checkSubjectProperties } from './subject.js';

/** The largest schema, as JSON text in bytes: 32 KiB. */
export const MAX_SCHEMA_BYTES = 32 * 1024;
/** Subschemas, counted along every reference: what one value can be checked against at most. */
export const MAX_SUBSCHEMAS = 2_000;
export const MAX_SCHEMA_DEPTH = 32;
/** Characters of a pattern. */
export const MAX_PATTERN_LENGTH = 256;
/** Instructions of all patterns, in which repetitions count as often as they repeat. */
export const MAX_PATTERN_SIZE = 5_000;
/** Steps that checking the largest payload may take: about two seconds. */
export const MAX_STEPS = 400_000_000;
/** The most errors of a schema that are listed. */
const MAX_ERRORS = 20;

/** What a schema within its bounds takes. */
export interface SchemaSize {
  subschemas: number;
  patternSize: number;
}

/**
 * Checks the bounds of a schema that an account brings, without compiling it: nothing in it may refer elsewhere or to itself, and checking a
 * payload against it must not take long. The time that this takes is bounded itself.
 *
 * @returns what is wrong, with pointers into `base`; nothing is, if `errors` is empty
 */
export function checkBounds(schema: Schema, base = '/schema'): { errors: InputError[]; size: SchemaSize } {
  const walk = new SchemaWalk(schema, base);
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    const errors = [{ pointer: base, detail: `must be at most ${MAX_SCHEMA_BYTES} bytes of JSON` }];
    return { errors, size: walk.size };
  }
  walk.visit(schema, base, []);
  if (walk.errors.length === 0)
    walk.errors.push(...checkKeyProperties(schema, base), ...checkSubjectProperties(schema, base));
  if (walk.errors.length > 0) return { errors: walk.errors.slice(0, MAX_ERRORS), size: walk.size };
  const cost = costOf(schema);
  const steps = stepsFor(cost, MAX_PAYLOAD_BYTES);
  if (steps <= MAX_STEPS) return { errors: [], size: walk.size };
  const { pointer } = heaviestPart(cost, MAX_PAYLOAD_BYTES);
  const times = (steps / MAX_STEPS).toFixed(1);
  const detail =
    `takes too long to check: the schema could take ${times} times the limit for the largest payload. ` +
    'Use fewer alternatives, patterns or repetitions here, or give texts that have a pattern a maxLength';
  return { errors: [{ pointer: base + pointer, detail }], size: walk.size };
}

/** Checks the patterns of a schema within its bounds by compiling them. */
export function checkPatterns(schema: Schema, base = '/schema'): InputError[] {
  const walk = new SchemaWalk(schema, base, (pattern) => {
    compilePattern(pattern);
  });
  walk.visit(schema, base, []);
  return walk.errors.slice(0, MAX_ERRORS);
}

/** One walk through a schema, along its references as validation would go. */
class SchemaWalk {
  readonly errors: InputError[] = [];
  readonly size: SchemaSize = { subschemas: 0, patternSize: 0 };
  private readonly definitions: Schema;
  private readonly base: string;
  private readonly compile: ((pattern: string) => void) | undefined;

  /** @param compile throws for a pattern that is not valid; absent to leave that out */
  constructor(schema: Schema, base: string, compile?: (pattern: string) => void) {
    this.definitions = isSchema(schema['$defs']) ? schema['$defs'] : {};
    this.base = base;
    this.compile = compile;
  }

  /** @param path names of the definitions that led here */
  visit(schema: unknown, pointer: string, path: readonly string[], depth = 0): void {
    if (typeof schema === 'boolean' || this.errors.length >= MAX_ERRORS) return;
    if (!isSchema(schema)) {
      this.refuse(pointer, 'must be a schema: an object, true or false');
      return;
    }
    this.size.subschemas += 1;
    if (depth > MAX_SCHEMA_DEPTH) {
      this.refuse(pointer, `must be nested at most ${MAX_SCHEMA_DEPTH} deep`);
      return;
    }
    if (this.size.subschemas > MAX_SUBSCHEMAS) {
      this.refuseOnce(`has more than ${MAX_SUBSCHEMAS} subschemas, counted along every reference`);
      return;
    }
    this.checkKeywords(schema, pointer);
    const next = (inner: unknown, ...names: (string | number)[]) =>
      this.visit(
        inner,
        pointer + names.map((name) => `/${escapePointer(String(name))}`).join(''),
        path,
        depth + 1,
      );
    for (const name of SCHEMA_KEYWORDS) if (name in schema) next(schema[name], name);
    for (const name of LIST_KEYWORDS) {
      const list = schema[name];
      if (Array.isArray(list)) for (const [index, inner] of list.entries()) next(inner, name, index);
    }
    for (const name of MAP_KEYWORDS) {
      const map = schema[name];
      if (isSchema(map)) for (const [key, inner] of Object.entries(map)) next(inner, name, key);
    }
    if ('$ref' in schema) this.follow(schema['$ref'], `${pointer}/$ref`, path, depth);
  }

  private follow(reference: unknown, pointer: string, path: readonly string[], depth: number): void {
    const name = referencedDefinition(reference);
    if (!name) {
      this.refuse(pointer, 'must refer to a definition of this schema, such as #/$defs/address');
      return;
    }
    if (!Object.hasOwn(this.definitions, name)) {
      this.refuse(pointer, 'refers to nothing in $defs');
      return;
    }
    if (path.includes(name)) {
      this.refuse(pointer, 'must not lead back to itself');
      return;
    }
    this.visit(this.definitions[name], `${this.base}/$defs/${name}`, [...path, name], depth + 1);
  }

  private checkKeywords(schema: Schema, pointer: string): void {
    for (const name of Object.keys(schema)) {
      if (!KEYWORDS.has(name))
        this.refuse(`${pointer}/${escapePointer(name)}`, 'is not a keyword that is supported here');
    }
    if ('pattern' in schema) this.checkPattern(schema['pattern'], `${pointer}/pattern`);
    if (isSchema(schema['patternProperties'])) {
      for (const pattern of Object.keys(schema['patternProperties']))
        this.checkPattern(pattern, `${pointer}/patternProperties/${escapePointer(pattern)}`);
    }
  }

  private checkPattern(pattern: unknown, pointer: string): void {
    if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN_LENGTH) {
      this.refuse(pointer, `must be a text of at most ${MAX_PATTERN_LENGTH} characters`);
      return;
    }
    this.size.patternSize += patternSize(pattern);
    if (this.size.patternSize > MAX_PATTERN_SIZE) {
      this.refuse(
        pointer,
        `repeats too much: all patterns together come to more than ${MAX_PATTERN_SIZE} steps`,
      );
      return;
    }
    try {
      this.compile?.(pattern);
    } catch (error) {
      this.refuse(pointer, `is not a pattern of RE2: ${error instanceof Error ? error.message : error}`);
    }
  }

  private refuseOnce(detail: string): void {
    if (!this.errors.some((error) => error.detail === detail)) this.refuse(this.base, detail);
  }

  private refuse(pointer: string, detail: string): void {
    this.errors.push({ pointer, detail });
  }
}
