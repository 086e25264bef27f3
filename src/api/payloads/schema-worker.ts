import { readFileSync } from 'node:fs';
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
  /** With how long the thread had a processor meanwhile, milliseconds, where the system tells. */
  | { type: 'too_long'; processorMs?: number | undefined };

/** Compiled schemas that are kept. The thread's heap is limited. */
const MAX_VALIDATORS = 20;
const validators = new LRUCache<string, Validator>({ max: MAX_VALIDATORS });

const sandbox = createContext({ run: () => {} });
const call = new Script('run()');

/** Runs a task in a thread of the pool, no longer than it may take: V8 ends what it runs then, whatever that is. */
export default function work(task: Task): TaskResult {
  let result: TaskResult | undefined;
  const before = processorMs();
  sandbox['run'] = () => {
    result = perform(task);
  };
  try {
    call.runInContext(sandbox, { timeout: task.limitMs });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  }
  if (result) return result;
  const after = processorMs();
  return {
    type: 'too_long',
    processorMs: before === undefined || after === undefined ? undefined : after - before,
  };
}

/** How long this thread has had a processor, milliseconds; `undefined` if the system does not tell: Linux does. */
function processorMs(): number | undefined {
  try {
    // From Node.js 23.9 on there is process.threadCpuUsage().
    const nanoseconds = Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : undefined;
  } catch {
    return undefined;
  }
}

function perform(task: Task): TaskResult {
  if (task.type === 'payload')
    return { type: 'payload', violations: validatorOf(task)(JSON.parse(task.text), task.text) };
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
