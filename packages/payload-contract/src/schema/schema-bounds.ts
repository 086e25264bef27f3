import { escapePointer } from '../json-pointer.js';
import { isCheckedFormat } from './formats.js';
import { MAX_ERRORS, type Mistake } from './mistake.js';
import { compilePattern, patternSize } from './pattern.js';
import { costOf, heaviestPart, stepsFor } from './schema-cost.js';
import {
  BASE,
  comparesNumbers,
  INSTEAD,
  isAnnotation,
  isSchema,
  KEYWORDS,
  referencedDefinition,
  type Schema,
  subschemasUnder,
} from './schema-keywords.js';
import { checkKeyProperties, checkOrderProperties, checkSubjectProperties } from './schema-marks.js';

/** The largest payload, bytes: 256 KiB. The cost of a schema is that of checking a payload of this size. */
export const MAX_PAYLOAD_BYTES = 256 * 1024;

/** The bounds of a schema that somebody else brings. */
export const SCHEMA_BOUNDS = {
  /** The largest schema, as JSON text in bytes: 32 KiB. */
  bytes: 32 * 1024,
  /** Subschemas, counted along every reference: what one value can be checked against at most. */
  subschemas: 2_000,
  depth: 32,
  /** Characters of a pattern. */
  patternLength: 256,
  /** Instructions of all patterns, in which repetitions count as often as they repeat. */
  patternSize: 5_000,
  /** Steps that checking the largest payload may take: about two seconds. */
  steps: 400_000_000,
} as const;

/** Size of a schema within its bounds. */
export interface SchemaSize {
  /** As JSON text. */
  bytes: number;
  subschemas: number;
  patternSize: number;
}

/**
 * Checks the bounds of a schema that an account brings, without compiling it: nothing in it may refer elsewhere or to
 * itself, and checking a payload against it must not take long. The time that this takes is bounded itself.
 *
 * @returns what is wrong, with pointers into the request; nothing is, if `errors` is empty
 */
export function checkBounds(schema: Schema): { errors: Mistake[]; size: SchemaSize } {
  const walk = new SchemaWalk(schema);
  if (walk.size.bytes > SCHEMA_BOUNDS.bytes) {
    const errors = [{ pointer: BASE, detail: `must be at most ${SCHEMA_BOUNDS.bytes} bytes of JSON` }];
    return { errors, size: walk.size };
  }
  walk.visit(schema, BASE, []);
  if (walk.errors.length === 0)
    walk.errors.push(
      ...checkKeyProperties(schema),
      ...checkSubjectProperties(schema),
      ...checkOrderProperties(schema),
    );
  if (walk.errors.length > 0) return { errors: walk.errors.slice(0, MAX_ERRORS), size: walk.size };
  const cost = costOf(schema);
  const steps = stepsFor(cost, MAX_PAYLOAD_BYTES);
  if (steps <= SCHEMA_BOUNDS.steps) return { errors: [], size: walk.size };
  const { pointer } = heaviestPart(cost, MAX_PAYLOAD_BYTES);
  const times = (steps / SCHEMA_BOUNDS.steps).toFixed(1);
  const detail =
    `takes too long to check: the schema could take ${times} times the limit for the largest payload. ` +
    'Use fewer alternatives, patterns or repetitions here, or give texts that have a pattern a maxLength';
  return { errors: [{ pointer: BASE + pointer, detail }], size: walk.size };
}

/** Memory of a compiled function, bytes: of any, for each byte of its JSON, and for each step of its patterns. */
const FUNCTION_BYTES = { any: 30_000, ofByte: 100, ofStep: 750 };

/**
 * Memory that a compiled schema takes at most, bytes. It is two functions, of which one stops at the first error; and
 * if the schema compares numbers, two more for numbers with all their digits.
 */
export function compiledBytes(schema: Schema, { bytes, patternSize }: SchemaSize): number {
  const { any, ofByte, ofStep } = FUNCTION_BYTES;
  return (comparesNumbers(schema) ? 4 : 2) * (any + ofByte * bytes + ofStep * patternSize);
}

/** Checks the patterns of a schema within its bounds by compiling them. */
export function checkPatterns(schema: Schema): Mistake[] {
  const walk = new SchemaWalk(schema, compilePattern);
  walk.visit(schema, BASE, []);
  return walk.errors.slice(0, MAX_ERRORS);
}

/** The one of which schemas are. */
const DIALECT = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** One walk through a schema, along its references as validation would go. */
class SchemaWalk {
  readonly errors: Mistake[] = [];
  readonly size: SchemaSize;
  private readonly definitions: Schema;
  private readonly compile: ((pattern: string) => unknown) | undefined;

  /** @param compile throws for a pattern that is not valid; absent to leave that out */
  constructor(schema: Schema, compile?: (pattern: string) => unknown) {
    this.size = { bytes: Buffer.byteLength(JSON.stringify(schema)), subschemas: 0, patternSize: 0 };
    this.definitions = isSchema(schema['$defs']) ? schema['$defs'] : {};
    this.compile = compile;
  }

  /**
   * @param path names of the definitions that led here
   * @param isNamed whether it is in a schema with an `$id` of its own, below the root: a reference in it means another
   * root
   */
  visit(schema: unknown, pointer: string, path: readonly string[], depth = 0, isNamed = false): void {
    if (typeof schema === 'boolean' || this.errors.length >= MAX_ERRORS) return;
    if (!isSchema(schema)) {
      this.refuse(pointer, 'must be a schema: an object, true or false');
      return;
    }
    this.size.subschemas += 1;
    if (depth > SCHEMA_BOUNDS.depth) {
      this.refuse(pointer, `must be nested at most ${SCHEMA_BOUNDS.depth} deep`);
      return;
    }
    if (this.size.subschemas > SCHEMA_BOUNDS.subschemas) {
      this.refuseOnce(`has more than ${SCHEMA_BOUNDS.subschemas} subschemas, counted along every reference`);
      return;
    }
    this.checkKeywords(schema, pointer);
    const hasId = isNamed || ('$id' in schema && pointer !== BASE);
    for (const name of KEYWORDS)
      if (name in schema)
        for (const [below, inner] of subschemasUnder(schema, name))
          this.visit(inner, pointer + below, path, depth + 1, hasId);
    if ('$ref' in schema) {
      if (hasId) this.refuse(`${pointer}/$ref`, 'must not stand in a schema with an $id: leave the $id out');
      else this.follow(schema['$ref'], `${pointer}/$ref`, path, depth);
    }
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
    this.visit(this.definitions[name], `${BASE}/$defs/${name}`, [...path, name], depth + 1);
  }

  private checkKeywords(schema: Schema, pointer: string): void {
    for (const name of Object.keys(schema)) {
      if (!KEYWORDS.has(name) && !isAnnotation(name))
        this.refuse(
          `${pointer}/${escapePointer(name)}`,
          `is not a keyword that is supported here: ${INSTEAD[name] ?? 'leave it out'}`,
        );
    }
    const { $schema: dialect, pattern, format } = schema;
    if (dialect !== undefined && !DIALECT.test(String(dialect)))
      this.refuse(
        `${pointer}/$schema`,
        'must be https://json-schema.org/draft/2020-12/schema, or be left out',
      );
    if (pattern !== undefined) this.checkPattern(pattern, `${pointer}/pattern`, format);
    if (isSchema(schema['patternProperties'])) {
      for (const pattern of Object.keys(schema['patternProperties']))
        this.checkPattern(pattern, `${pointer}/patternProperties/${escapePointer(pattern)}`);
    }
  }

  /** @param format beside it: tools that write schemas say there a second time what a pattern says */
  private checkPattern(pattern: unknown, pointer: string, format?: unknown): void {
    const hint = isCheckedFormat(format)
      ? `. The format ${format} is checked anyway: leave the pattern out`
      : '';
    if (typeof pattern !== 'string' || pattern.length > SCHEMA_BOUNDS.patternLength) {
      this.refuse(pointer, `must be a text of at most ${SCHEMA_BOUNDS.patternLength} characters${hint}`);
      return;
    }
    this.size.patternSize += patternSize(pattern);
    if (this.size.patternSize > SCHEMA_BOUNDS.patternSize) {
      this.refuse(
        pointer,
        `repeats too much: all patterns together come to more than ${SCHEMA_BOUNDS.patternSize} steps`,
      );
      return;
    }
    try {
      this.compile?.(pattern);
    } catch (error) {
      this.refuse(
        pointer,
        `is not a pattern of RE2: ${error instanceof Error ? error.message : error}${hint}`,
      );
    }
  }

  private refuseOnce(detail: string): void {
    if (!this.errors.some((error) => error.detail === detail)) this.refuse(BASE, detail);
  }

  private refuse(pointer: string, detail: string): void {
    this.errors.push({ pointer, detail });
  }
}
