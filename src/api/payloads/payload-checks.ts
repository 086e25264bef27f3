import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type Cost,
  checkBounds,
  compilePayloadSchema,
  costOf,
  EXACT_READING,
  mayLoseDigits,
  type SchemaSize,
  stepsFor,
  type Validator,
  type Violations,
} from '../../../packages/payload-contract/src/index.js';
import {
  comparesNumbers,
  type Schema,
} from '../../../packages/payload-contract/src/schema/schema-keywords.js';
import type { Owner } from '../../domain/access/owner.js';
import { type EventKind, findEventKind } from '../../domain/event/event-kinds.js';
import { invalidPayload, type Payload, readPayload } from '../../domain/event/payload.js';
import { type InputError, Problem } from '../../domain/http/problem.js';
import { CheckPool, tooSlow } from './check-pool.js';
import { RecentUse } from './fair-queue.js';

/** Duration of a step of a cost, milliseconds. */
const STEP_MS = 5e-6;
/** Bounds of checks on the main thread. */
const MAIN_THREAD = {
  /** Most steps of a check, about 5 ms, whose schema is small to compile. */
  steps: 1_000_000,
  subschemas: 64,
  patternSize: 500,
  /**
   * A platform, or an account without one, that has used so much of it lately uses the pool: about a fifth of a thread.
   * Milliseconds.
   */
  spentMs: 3_000,
  /** Checks of less than this, 0.1 ms, are not counted. */
  countedSteps: 20_000,
};
/** A check in the pool of at most so many steps, 100 ms, is quick. */
const QUICK_STEPS = 20_000_000;

/** How payloads of a schema are checked. */
interface Plan {
  /** Equal for equal schemas only. */
  key: string;
  cost: Cost;
  /** Of compiling it, in steps: endless if it is beyond the bounds, as no schema is that was accepted. */
  compiling: number;
  /** Whether the digits of numbers can matter to it. */
  isComparing: boolean;
  /** Absent if the schema is too large to be compiled on the main thread. */
  validator?: Validator;
}

/**
 * Checks payloads against their kinds' schemas, and schemas themselves. What is cheap is checked here; everything else
 * in a small pool of threads whose time and heap are limited, in an order that is fair to accounts and platforms, so
 * that nobody's schema holds up others.
 */
export class PayloadChecks {
  private readonly pool: CheckPool;
  private readonly plans = new LRUCache<string, Plan, Schema>({
    max: 500,
    memoMethod: (key, _stale, { context }) => ({ key, ...planFor(context) }),
  });
  private readonly keys = new WeakMap<Schema, string>();
  private readonly mainThread = new RecentUse();
  private readonly limitMs: number;

  /**
   * @param heapMb heap of a thread, megabytes
   * @param limitMs how long any check may take: what a schema within its bounds can take is less, on any machine that
   * is fit for service
   */
  constructor(heapMb?: number, limitMs = 5_000) {
    this.limitMs = limitMs;
    this.pool = new CheckPool(heapMb);
  }

  /**
   * Reads a payload and checks it against its kind.
   *
   * @throws Problem 400 if it is not valid, or checking it takes too much memory, or, of a schema that is beyond the
   * bounds, too long; 503 if too many wait, or this machine was too slow
   */
  async read(owner: Owner, kind: EventKind, body: Uint8Array): Promise<Payload> {
    const payload = readPayload(body);
    const plan = this.planOf(kind.schema);
    const reading = readingSteps(plan, payload.text, body.length);
    const steps = stepsFor(plan.cost, body.length) + reading;
    // What is built in takes little time, unless its numbers do.
    const mayBeLong = isBuiltIn(kind) ? reading : steps;
    const validator = this.hasRoom(owner, mayBeLong, steps) ? plan.validator : undefined;
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
    const task = { type: 'schema' as const, schema, limitMs: this.limitMs };
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

  /**
   * Does work on the main thread that a payload or filters of an account can make long, and counts it: who has used
   * much of that thread has other things checked elsewhere.
   */
  counted<T>(owner: Owner, work: () => T): T {
    const began = performance.now();
    try {
      return work();
    } finally {
      const now = performance.now();
      if (now - began >= MAIN_THREAD.countedSteps * STEP_MS) this.mainThread.add(owner, now - began, now);
    }
  }

  /** Whether a check may take the main thread; if so, it is counted. */
  private hasRoom(owner: Owner, mayBeLong: number, steps: number): boolean {
    if (mayBeLong > MAIN_THREAD.steps) return false;
    if (steps < MAIN_THREAD.countedSteps) return true;
    const now = performance.now();
    if (this.mainThread.ofPlatform(owner, now) >= MAIN_THREAD.spentMs) return false;
    this.mainThread.add(owner, steps * STEP_MS, now);
    return true;
  }

  private planOf(schema: Schema): Plan {
    let key = this.keys.get(schema);
    if (key === undefined) {
      key = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
      this.keys.set(schema, key);
    }
    return this.plans.memo(key, { context: schema });
  }

  private async checkInPool(
    owner: Owner,
    { key, compiling }: Plan,
    schema: Schema,
    text: string,
    steps: number,
  ): Promise<Violations | undefined> {
    const lane = steps + compiling <= QUICK_STEPS ? 'quick' : 'long';
    const task = { type: 'payload' as const, key, schema, text, limitMs: this.limitMs };
    const result = await this.pool.run({ owner, lane, steps: steps + compiling }, task);
    if (result.type === 'payload') return result.violations;
    const isOutOfMemory = result.type === 'out_of_memory';
    if (!isOutOfMemory && Number.isFinite(compiling)) throw tooSlow();
    throw new Problem(
      'payload_too_complex',
      `Checking the payload against its schema took too ${isOutOfMemory ? 'much memory' : 'long'}. ` +
        'Send a smaller payload, or give the event kind a simpler schema.',
    );
  }
}

function planFor(schema: Schema): Omit<Plan, 'key'> {
  const { errors, size } = checkBounds(schema);
  const isComparing = comparesNumbers(schema);
  if (errors.length > 0) {
    // No schema was accepted like this: whoever has written it holds up nobody else.
    const endless = Number.POSITIVE_INFINITY;
    return { cost: { fixed: endless, perByte: 0 }, compiling: endless, isComparing };
  }
  const isSmall = size.subschemas <= MAIN_THREAD.subschemas && size.patternSize <= MAIN_THREAD.patternSize;
  return {
    cost: costOf(schema),
    compiling: compilingSteps(size),
    isComparing,
    ...(isSmall && { validator: compilePayloadSchema(schema) }),
  };
}

/** Of compiling a schema: of each subschema, and of each step of its patterns. */
function compilingSteps({ subschemas, patternSize }: SchemaSize): number {
  return subschemas * 20_000 + patternSize * 200;
}

/** Of reading numbers digit by digit, where these can matter. @param bytes the payload's length as UTF-8 */
function readingSteps({ isComparing }: Plan, text: string, bytes: number): number {
  return isComparing && mayLoseDigits(text) ? stepsFor(EXACT_READING, bytes) : 0;
}

function isBuiltIn({ name, schema }: EventKind): boolean {
  return findEventKind(name)?.schema === schema;
}
