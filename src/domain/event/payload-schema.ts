import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import { escapePointer } from '../http/json-pointer.js';
import type { InputError } from '../http/problem.js';

/** The largest schema, as JSON text in bytes: 32 KiB. */
export const MAX_SCHEMA_BYTES = 32 * 1024;
/** Subschemas, counted along every reference: what one place of a payload can be checked against at most. */
export const MAX_SUBSCHEMAS = 2_000;
export const MAX_SCHEMA_DEPTH = 32;
const MAX_PATTERN_LENGTH = 256;
/** Comparing each item with each other one takes the square of their number. */
const MAX_UNIQUE_ITEMS = 1_000;
const MAX_ERRORS = 20;

const FORMATS = ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'] as const;

const UTC_DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|\+00:00)$/;

/** Keywords with one subschema, a list of them, and a map of them; the others have none. */
const ONE = ['items', 'additionalProperties', 'propertyNames', 'contains', 'not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];
const PLAIN = [
  ...['$schema', '$defs', '$ref', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly', 'type', 'enum', 'const', 'required', 'dependentRequired', 'format', 'pattern'],
  ...['minProperties', 'maxProperties', 'minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
];
const KEYWORDS = new Set([...ONE, ...LISTS, ...MAPS, ...PLAIN]);

type Schema = Record<string, unknown>;

/**
 * Compiles a schema (JSON Schema, draft 2020-12). Patterns are run by RE2, in time that grows with the text alone, whatever the pattern.
 *
 * @throws Error where it is no valid schema
 */
export function compilePayloadSchema(schema: Schema): ValidateFunction {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    ownProperties: true,
    logger: false,
    code: { regExp: Object.assign((pattern: string) => linearPattern(pattern), { code: 'linearPattern' }) },
  });
  addFormats.default(ajv, [...FORMATS]);
  ajv.addFormat('utc-date-time', {
    validate: (text: string) => UTC_DATE_TIME.test(text) && isCalendarDay(text.slice(0, 10)),
  });
  return ajv.compile(schema);
}

/** JavaScript takes 30 February for 2 March; the day that comes out must be the one that went in. */
function isCalendarDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

/**
 * Checks a schema that an account brings before it is compiled: nothing in it may refer elsewhere, to itself, or take a time that grows
 * faster than the payload.
 *
 * @returns what is wrong, with pointers into `base`
 */
export function checkPayloadSchema(schema: Schema, base = '/schema'): InputError[] {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    return [{ pointer: base, detail: `must be at most ${MAX_SCHEMA_BYTES} bytes of JSON` }];
  const walk = new SchemaWalk(schema, base);
  walk.visit(schema, base, []);
  if (walk.errors.length > 0) return walk.errors.slice(0, MAX_ERRORS);
  try {
    compilePayloadSchema(schema);
    return [];
  } catch (error) {
    return [
      { pointer: base, detail: `is no valid JSON Schema: ${error instanceof Error ? error.message : error}` },
    ];
  }
}

/** One walk through a schema, along its references as validation would go. */
class SchemaWalk {
  readonly errors: InputError[] = [];
  private readonly definitions: Schema;
  private readonly base: string;
  private visited = 0;

  constructor(schema: Schema, base: string) {
    this.definitions = isSchema(schema['$defs']) ? schema['$defs'] : {};
    this.base = base;
  }

  /** @param path names of the definitions that led here */
  visit(schema: unknown, pointer: string, path: readonly string[], depth = 0): void {
    if (typeof schema === 'boolean' || this.errors.length >= MAX_ERRORS) return;
    if (!isSchema(schema)) {
      this.refuse(pointer, 'must be a schema: an object, true or false');
      return;
    }
    this.visited += 1;
    if (depth > MAX_SCHEMA_DEPTH) {
      this.refuse(pointer, `must be nested at most ${MAX_SCHEMA_DEPTH} deep`);
      return;
    }
    if (this.visited > MAX_SUBSCHEMAS) {
      const detail = `has more than ${MAX_SUBSCHEMAS} subschemas, counted along every reference`;
      if (!this.errors.some((error) => error.detail === detail)) this.refuse(this.base, detail);
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
    for (const name of ONE) if (name in schema) next(schema[name], name);
    for (const name of LISTS) {
      const list = schema[name];
      if (Array.isArray(list)) for (const [index, inner] of list.entries()) next(inner, name, index);
    }
    for (const name of MAPS) {
      const map = schema[name];
      if (isSchema(map)) for (const [key, inner] of Object.entries(map)) next(inner, name, key);
    }
    if ('$ref' in schema) this.follow(schema['$ref'], `${pointer}/$ref`, path, depth);
  }

  private follow(reference: unknown, pointer: string, path: readonly string[], depth: number): void {
    const name = /^#\/\$defs\/([\w.-]{1,128})$/.exec(String(reference))?.[1];
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
        this.refuse(`${pointer}/${escapePointer(name)}`, 'is no keyword that is supported here');
    }
    if (schema['uniqueItems'] === true && !(Number(schema['maxItems']) <= MAX_UNIQUE_ITEMS))
      this.refuse(`${pointer}/uniqueItems`, `needs maxItems of at most ${MAX_UNIQUE_ITEMS} beside it`);
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
    try {
      linearPattern(pattern);
    } catch (error) {
      this.refuse(pointer, `is no pattern of RE2: ${error instanceof Error ? error.message : error}`);
    }
  }

  private refuse(pointer: string, detail: string): void {
    this.errors.push({ pointer, detail });
  }
}

function linearPattern(pattern: string) {
  const compiled = RE2JS.compile(pattern);
  // Ajv tells patterns apart by their texts.
  return { test: (text: string) => compiled.matcher(text).find(), toString: () => `re2:${pattern}` };
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
