import { LRUCache } from 'lru-cache';
import {
  checkPatterns,
  checkSchemaItself,
  compilePayloadSchema,
  type Validator,
  type Violations,
} from '../../../packages/payload-contract/src/index.js';
import type { Schema } from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import type { InputError } from '../../domain/http/problem.js';

/** A payload that is to be checked. */
export interface PayloadTask {
  /** Equal for equal schemas only. */
  key: string;
  schema: Schema;
  /** See `compiledBytes`. */
  schemaBytes: number;
  text: string;
}

/** Memory of a thread for compiled schemas, bytes. */
const COMPILED_BYTES = 32 * 1024 * 1024;

/** Compiled schemas, those that were used last. */
const compiled = new LRUCache<string, { validate: Validator; bytes: number }, PayloadTask>({
  maxSize: COMPILED_BYTES,
  sizeCalculation: ({ bytes }) => bytes,
  memoMethod: (_key, _stale, { context: { schema, schemaBytes: bytes } }) => ({
    validate: compilePayloadSchema(schema),
    bytes,
  }),
});

/** Checks a payload against its schema. Runs in a thread. */
export function checkPayload(task: PayloadTask): Violations | undefined {
  const { validate } = compiled.memo(task.key, { context: task });
  return validate(JSON.parse(task.text), task.text);
}

/** Checks a schema within its bounds, by compiling it. Runs in a thread. */
export function checkSchema(schema: Schema): InputError[] {
  const errors = checkPatterns(schema);
  if (errors.length > 0) return errors;
  const mistake = checkSchemaItself(schema);
  return mistake === undefined
    ? []
    : [{ pointer: '/schema', detail: `is not a valid JSON Schema: ${mistake}` }];
}
