import { createContext, Script } from 'node:vm';
import { LRUCache } from 'lru-cache';
import {
  checkSchemaItself,
  compilePayloadSchema,
  type Validator,
  type Violations,
} from '../../domain/event/payload-schema.js';
import { checkPatterns } from '../../domain/event/schema-bounds.js';
import type { Schema } from '../../domain/event/schema-keywords.js';
import type { InputError } from '../../domain/http/problem.js';

/** Checks a payload against a schema, or a schema itself. */
export type Task =
  | { type: 'payload'; key: string; schema: Schema; text: string; limitMs: number }
  | { type: 'schema'; schema: Schema; limitMs: number };

export type TaskResult =
  | { type: 'payload'; violations: Violations | undefined }
  | { type: 'schema'; errors: InputError[] }
  | { type: 'too_long' };

/** Compiled schemas that are kept. The thread's heap is limited. */
const MAX_VALIDATORS = 20;
const validators = new LRUCache<string, Validator>({ max: MAX_VALIDATORS });

const sandbox = createContext({ run: () => {} });
const call = new Script('run()');

/** Runs a task in a thread of the pool, no longer than it may take: V8 ends what it runs then, whatever that is. */
export default function work(task: Task): TaskResult {
  let result: TaskResult = { type: 'too_long' };
  sandbox['run'] = () => {
    result = perform(task);
  };
  try {
    call.runInContext(sandbox, { timeout: task.limitMs });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  return result;
}

function perform(task: Task): TaskResult {
  if (task.type === 'payload')
    return { type: 'payload', violations: validatorOf(task)(JSON.parse(task.text)) };
  const errors = checkPatterns(task.schema);
  if (errors.length > 0) return { type: 'schema', errors };
  const mistake = checkSchemaItself(task.schema);
  const detail = `is not a valid JSON Schema: ${mistake}`;
  return { type: 'schema', errors: mistake === undefined ? [] : [{ pointer: '/schema', detail }] };
}

function validatorOf({ key, schema }: { key: string; schema: Schema }): Validator {
  const known = validators.get(key);
  if (known) return known;
  const validator = compilePayloadSchema(schema);
  validators.set(key, validator);
  return validator;
}

/** The error is made in the sandbox, so it is not an `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
