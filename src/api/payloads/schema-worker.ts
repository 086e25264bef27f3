import { createContext, Script } from 'node:vm';
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

/** Checks a payload against a schema, or a schema itself. */
export type Task =
  | { type: 'payload'; key: string; schema: Schema; text: string; limitMs: number }
  | { type: 'schema'; schema: Schema; limitMs: number };

export type TaskResult =
  | { type: 'payload'; violations: Violations | undefined }
  | { type: 'schema'; errors: InputError[] }
  | { type: 'too_long' };

/** Compiled schemas, a few: the thread's heap is limited. */
const validators = new LRUCache<string, Validator, Schema>({
  max: 20,
  memoMethod: (_key, _stale, { context }) => compilePayloadSchema(context),
});

const sandbox = createContext({ run: () => {} });
const call = new Script('run()');

/** Runs a task in a thread of the pool, no longer than it may take: V8 ends what it runs then, whatever that is. */
export default function work(task: Task): TaskResult {
  let result: TaskResult | undefined;
  sandbox['run'] = () => {
    result = perform(task);
  };
  try {
    call.runInContext(sandbox, { timeout: task.limitMs });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  return result ?? { type: 'too_long' };
}

function perform(task: Task): TaskResult {
  if (task.type === 'payload') {
    const validator = validators.memo(task.key, { context: task.schema });
    return { type: 'payload', violations: validator(JSON.parse(task.text), task.text) };
  }
  const errors = checkPatterns(task.schema);
  if (errors.length > 0) return { type: 'schema', errors };
  const mistake = checkSchemaItself(task.schema);
  const detail = `is not a valid JSON Schema: ${mistake}`;
  return { type: 'schema', errors: mistake === undefined ? [] : [{ pointer: '/schema', detail }] };
}

/** The error is made in the sandbox, so it is not an `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
