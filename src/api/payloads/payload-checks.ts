import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import { queuesByKey } from '../../domain/basics/bounded-queue.js';
import { type EventKind, findEventKind } from '../../domain/event/event-kinds.js';
import { invalidPayload, type Payload, readPayload } from '../../domain/event/payload.js';
import { compilePayloadSchema, type Validator, type Violations } from '../../domain/event/payload-schema.js';
import { checkBounds } from '../../domain/event/schema-bounds.js';
import { type Cost, costOf, stepsFor } from '../../domain/event/schema-cost.js';
import type { Schema } from '../../domain/event/schema-keywords.js';
import { type InputError, Problem } from '../../domain/http/problem.js';
import type { Task, TaskResult } from './schema-worker.js';

/** A payload is checked on the main thread if that takes at most this many steps, about 5 ms, and its schema is small to compile. */
const MAIN_THREAD_STEPS = 1_000_000;
const MAIN_THREAD_SUBSCHEMAS = 64;
const MAIN_THREAD_PATTERN_SIZE = 500;
/** Schemas that the main thread keeps compiled. */
const MAX_VALIDATORS = 500;

/** Checking one payload, or one schema, may take a thread of the pool this long, milliseconds. */
const CHECK_LIMIT_MS = 2_000;
/**
 * Heap of a thread of the pool, megabytes. A thread that needs more is ended, unless that happens while V8 reads a message: then the
 * whole process ends. A message is a schema and a payload, which are some hundred kilobytes at most.
 */
const CHECK_HEAP_MB = 128;
const THREADS = 2;
/** An idle thread ends after this, milliseconds. */
const IDLE_MS = 60_000;
/** From the request on, waiting for a thread included, milliseconds. */
const ANSWER_LIMIT_MS = 7_000;
/** The most checks of one account that wait for the pool, where it has one at a time. */
const MAX_WAITING_PER_ACCOUNT = 100;
/** Accounts whose queues are remembered. */
const MAX_QUEUES = 10_000;

/** Run from the sources, it is TypeScript, which a thread must be told how to load. */
const WORKER = fileURLToPath(new URL(`./schema-worker${extname(import.meta.url)}`, import.meta.url));
const WORKER_ARGUMENTS = extname(WORKER) === '.ts' ? ['--import', 'tsx'] : undefined;

/** How payloads of a schema are checked. */
interface Plan {
  /** Equal for equal schemas only. */
  key: string;
  cost: Cost;
  /** Absent if the schema is too large to be compiled on the main thread. */
  validator?: Validator;
}

/**
 * Checks payloads against their kinds' schemas, and schemas themselves. What is cheap is checked here; everything else in a small pool of
 * threads whose time and heap are limited, so that no account's schema holds up the requests of others.
 */
export class PayloadChecks {
  private readonly pool: Piscina<Task, TaskResult>;
  private readonly plans = new LRUCache<string, Plan>({ max: MAX_VALIDATORS });
  private readonly keys = new WeakMap<Schema, string>();
  private readonly queueOf = queuesByKey(1, MAX_QUEUES);
  private readonly limitMs: number;

  /**
   * @param heapMb heap of a thread, megabytes
   * @param limitMs how long a check may take
   */
  constructor(heapMb = CHECK_HEAP_MB, limitMs = CHECK_LIMIT_MS) {
    this.limitMs = limitMs;
    this.pool = new Piscina<Task, TaskResult>({
      filename: WORKER,
      ...(WORKER_ARGUMENTS && { execArgv: WORKER_ARGUMENTS }),
      minThreads: 0,
      maxThreads: THREADS,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    // A thread that runs out of heap while it has no task, such as one that was given up, would end the process. The next task gets a new one.
    this.pool.on('error', () => {});
  }

  /**
   * Reads a payload and checks it against its kind.
   *
   * @throws Problem 400 if it is not valid, or takes too long to check; 503 if too many wait
   */
  async read(accountId: string, kind: EventKind, body: Uint8Array): Promise<Payload> {
    const payload = readPayload(body);
    const { schema } = kind;
    const { key, cost, validator } = this.planOf(schema);
    const isCheap = isBuiltIn(kind) || stepsFor(cost, body.length) <= MAIN_THREAD_STEPS;
    const violations =
      validator && isCheap
        ? validator(payload.value)
        : await this.checkInPool(accountId, { key, schema, text: payload.text });
    if (violations) throw invalidPayload(kind.name, violations);
    return payload;
  }

  /** Checks a schema that an account brings. @returns what is wrong, with pointers into the request's body */
  async checkSchema(accountId: string, schema: Schema): Promise<InputError[]> {
    const { errors } = checkBounds(schema);
    if (errors.length > 0) return errors;
    const result = await this.run(accountId, { type: 'schema', schema, limitMs: this.limitMs });
    if (result.type === 'schema') return result.errors;
    return [{ pointer: '/schema', detail: 'takes too long to compile: use fewer subschemas and patterns' }];
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.pool.destroy();
  }

  private planOf(schema: Schema): Plan {
    let key = this.keys.get(schema);
    if (key === undefined) {
      key = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
      this.keys.set(schema, key);
    }
    let plan = this.plans.get(key);
    if (plan === undefined) {
      plan = { key, ...planFor(schema) };
      this.plans.set(key, plan);
    }
    return plan;
  }

  private async checkInPool(
    accountId: string,
    payload: { key: string; schema: Schema; text: string },
  ): Promise<Violations | undefined> {
    const result = await this.run(accountId, { type: 'payload', limitMs: this.limitMs, ...payload });
    if (result.type === 'payload') return result.violations;
    throw new Problem(
      'payload_too_complex',
      `Checking the payload against its schema took longer than ${this.limitMs / 1_000} seconds, or too much memory. ` +
        'Send a smaller payload, or give the event kind a simpler schema.',
    );
  }

  private async run(accountId: string, task: Task): Promise<TaskResult> {
    const queue = this.queueOf(accountId);
    if (queue.pendingCount >= MAX_WAITING_PER_ACCOUNT) throw busy();
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    try {
      return await queue(() => {
        signal.throwIfAborted();
        return this.pool.run(task, { signal });
      });
    } catch (error) {
      if (signal.aborted) throw busy();
      if (isOutOfMemory(error)) return { type: 'too_long' };
      throw error;
    }
  }
}

function planFor(schema: Schema): Omit<Plan, 'key'> {
  const { errors, size } = checkBounds(schema);
  // A schema from before today's bounds.
  if (errors.length > 0) return { cost: { fixed: Number.POSITIVE_INFINITY, perByte: 0 } };
  const isSmall = size.subschemas <= MAIN_THREAD_SUBSCHEMAS && size.patternSize <= MAIN_THREAD_PATTERN_SIZE;
  return { cost: costOf(schema), ...(isSmall && { validator: compilePayloadSchema(schema) }) };
}

function isBuiltIn({ name, schema }: EventKind): boolean {
  return findEventKind(name)?.schema === schema;
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function busy(): Problem {
  return new Problem(
    'unavailable',
    'Too many payloads wait to be checked. Nothing was accepted; send it again.',
    {
      headers: { 'retry-after': '1' },
    },
  );
}
