import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type EventKind, findEventKind } from '../../domain/event/event-kinds.js';
import { invalidPayload, type Payload, readPayload } from '../../domain/event/payload.js';
import { compilePayloadSchema, type Validator, type Violations } from '../../domain/event/payload-schema.js';
import { checkBounds, type SchemaSize } from '../../domain/event/schema-bounds.js';
import { type Cost, costOf, EXACT_READING, stepsFor } from '../../domain/event/schema-cost.js';
import { comparesNumbers, type Schema } from '../../domain/event/schema-keywords.js';
import { mayLoseDigits } from '../../domain/event/values/exact-number.js';
import { type InputError, Problem } from '../../domain/http/problem.js';
import { CheckPool, tooSlow } from './check-pool.js';
import { type Owner, RecentUse } from './fair-queue.js';

/** What a step of a cost takes, milliseconds. */
const STEP_MS = 5e-6;
/** A payload is checked on the main thread if that takes at most this many steps, about 5 ms, and its schema is small to compile. */
const MAIN_THREAD_STEPS = 1_000_000;
const MAIN_THREAD_SUBSCHEMAS = 64;
const MAIN_THREAD_PATTERN_SIZE = 500;
/** Checks of less than this, 0.1 ms, are not counted against {@link MAIN_THREAD_MS}. */
const COUNTED_STEPS = 20_000;
/** A platform, or an account without one, that has used so much of the main thread lately uses the pool: about a fifth of a thread. */
const MAIN_THREAD_MS = 3_000;
/** A check in the pool of at most so many steps, 100 ms, is quick. */
const QUICK_STEPS = 20_000_000;
/** Compiling a schema, in steps: each subschema, and each step of its patterns. */
const COMPILED_SUBSCHEMA = 20_000;
const COMPILED_PATTERN_STEP = 200;
/** Schemas that the main thread keeps compiled. */
const MAX_VALIDATORS = 500;

/** What a schema within its bounds can take is less than this, milliseconds, on any machine that is fit for service. */
const BOUNDED_LIMIT_MS = 5_000;
/** What one from before there were bounds may take, milliseconds. */
const UNBOUNDED_LIMIT_MS = 2_000;
/** A thread that has had a processor for less than this part of its time was kept from its work by others. */
const FAIR_SHARE = 0.5;

/** How payloads of a schema are checked. */
interface Plan {
  /** Equal for equal schemas only. */
  key: string;
  /** Whether the schema is within the bounds of today. */
  isBounded: boolean;
  cost: Cost;
  /** Of compiling it, in steps. */
  compiling: number;
  /** Whether the digits of numbers can matter to it. */
  isComparing: boolean;
  /** Absent if the schema is too large to be compiled on the main thread. */
  validator?: Validator;
}

/**
 * Checks payloads against their kinds' schemas, and schemas themselves. What is cheap is checked here; everything else in a small pool of
 * threads whose time and heap are limited, in an order that is fair to accounts and platforms, so that nobody's schema holds up others.
 */
export class PayloadChecks {
  private readonly pool: CheckPool;
  private readonly plans = new LRUCache<string, Plan>({ max: MAX_VALIDATORS });
  private readonly keys = new WeakMap<Schema, string>();
  private readonly mainThread = new RecentUse();
  private readonly limitMs: { bounded: number; unbounded: number };

  /**
   * @param heapMb heap of a thread, megabytes
   * @param limitMs how long any check may take
   */
  constructor(heapMb?: number, limitMs?: number) {
    this.limitMs = { bounded: limitMs ?? BOUNDED_LIMIT_MS, unbounded: limitMs ?? UNBOUNDED_LIMIT_MS };
    this.pool = new CheckPool(heapMb);
  }

  /**
   * Reads a payload and checks it against its kind.
   *
   * @throws Problem 400 if it is not valid, or its schema is from before there were bounds and takes too long; 503 if too many wait, or this
   *   machine was too slow
   */
  async read(owner: Owner, kind: EventKind, body: Uint8Array): Promise<Payload> {
    const payload = readPayload(body);
    const plan = this.planOf(kind.schema);
    const steps = stepsOf(plan, payload.text, body.length);
    const validator = this.hasRoom(owner, kind, steps) ? plan.validator : undefined;
    const violations = validator
      ? validator(payload.value, payload.text)
      : await this.checkInPool(owner, plan, kind.schema, payload.text, steps);
    if (violations) throw invalidPayload(kind.name, violations);
    return payload;
  }

  /**
   * Checks a schema that an account brings.
   *
   * @returns what is wrong, with pointers into the request's body
   * @throws Problem 503 if too many wait, or this machine was too slow
   */
  async checkSchema(owner: Owner, schema: Schema): Promise<InputError[]> {
    const { errors, size } = checkBounds(schema);
    if (errors.length > 0) return errors;
    const task = { type: 'schema' as const, schema, limitMs: this.limitMs.bounded };
    const result = await this.pool.run({ owner, lane: 'schema', steps: compilingSteps(size) }, task);
    if (result.type === 'schema') return result.errors;
    // Compiling what is within the bounds takes little time: only a slow machine ends it.
    if (result.type !== 'out_of_memory') throw tooSlow();
    return [
      { pointer: '/schema', detail: 'takes too much memory to compile: use fewer subschemas and patterns' },
    ];
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  /** Whether a check may take the main thread; if so, it is counted. */
  private hasRoom(owner: Owner, kind: EventKind, steps: number): boolean {
    if (!isBuiltIn(kind) && steps > MAIN_THREAD_STEPS) return false;
    if (steps < COUNTED_STEPS) return true;
    const now = performance.now();
    if (this.mainThread.ofPlatform(owner, now) >= MAIN_THREAD_MS) return false;
    this.mainThread.add(owner, steps * STEP_MS, now);
    return true;
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
    owner: Owner,
    { key, isBounded, compiling }: Plan,
    schema: Schema,
    text: string,
    steps: number,
  ): Promise<Violations | undefined> {
    const limitMs = isBounded ? this.limitMs.bounded : this.limitMs.unbounded;
    const lane = steps + compiling <= QUICK_STEPS ? 'quick' : 'long';
    const task = { type: 'payload' as const, key, schema, text, limitMs };
    const result = await this.pool.run({ owner, lane, steps: steps + compiling }, task);
    if (result.type === 'payload') return result.violations;
    if (result.type !== 'out_of_memory') {
      const { processorMs = limitMs } = result.type === 'too_long' ? result : {};
      if (isBounded || processorMs < FAIR_SHARE * limitMs) throw tooSlow();
    }
    throw new Problem(
      'payload_too_complex',
      `Checking the payload against its schema took longer than ${limitMs / 1_000} seconds, or too much memory. ` +
        'Send a smaller payload, or give the event kind a simpler schema.',
    );
  }
}

function planFor(schema: Schema): Omit<Plan, 'key'> {
  const { errors, size } = checkBounds(schema);
  const isComparing = comparesNumbers(schema);
  if (errors.length > 0) {
    const endless = Number.POSITIVE_INFINITY;
    return { isBounded: false, cost: { fixed: endless, perByte: 0 }, compiling: endless, isComparing };
  }
  const isSmall = size.subschemas <= MAIN_THREAD_SUBSCHEMAS && size.patternSize <= MAIN_THREAD_PATTERN_SIZE;
  return {
    isBounded: true,
    cost: costOf(schema),
    compiling: compilingSteps(size),
    isComparing,
    ...(isSmall && { validator: compilePayloadSchema(schema) }),
  };
}

function compilingSteps({ subschemas, patternSize }: SchemaSize): number {
  return subschemas * COMPILED_SUBSCHEMA + patternSize * COMPILED_PATTERN_STEP;
}

/** Of checking a payload, compiling its schema left out. @param bytes its length as UTF-8 */
function stepsOf({ cost, isComparing }: Plan, text: string, bytes: number): number {
  const reading = isComparing && mayLoseDigits(text) ? stepsFor(EXACT_READING, bytes) : 0;
  return stepsFor(cost, bytes) + reading;
}

function isBuiltIn({ name, schema }: EventKind): boolean {
  return findEventKind(name)?.schema === schema;
}
