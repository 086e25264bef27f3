import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type Cost,
  checkBounds,
  compiledBytes,
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
import { CheckPool } from './check-pool.js';
import type { PayloadTask } from './schema-worker.js';

/**
 * Bounds of what is checked on the main thread. A check takes 1 ms there at most, less than accepting an event does, so
 * the rate limit of events bounds checks, too.
 */
const MAIN_THREAD = { steps: 200_000, subschemas: 64, patternSize: 500 };
/** Memory for what was compiled for the main thread, bytes. */
const COMPILED_BYTES = 192 * 1024 * 1024;
/** The most steps of a quick check: 100 ms. */
const QUICK_STEPS = 20_000_000;

/** How payloads of a schema are checked. */
interface Plan {
  cost: Cost;
  /** Cost of compiling the schema, steps. */
  compiling: number;
  /** Memory that the compiled schema takes. */
  schemaBytes: number;
  /** Whether the digits of numbers can matter to it. */
  isComparing: boolean;
  /** Absent if the schema is too large to be compiled on the main thread. */
  validator?: Validator;
}

/**
 * Checks payloads against their kinds' schemas, and schemas themselves. The bounds of a schema say what a check of it
 * costs at most: what is cheap is checked here, everything else in a few threads, in turns of accounts and platforms.
 */
export class PayloadChecks {
  private readonly pool: CheckPool;
  private readonly plans = new LRUCache<string, Plan, Schema>({
    max: 500,
    maxSize: COMPILED_BYTES,
    sizeCalculation: ({ validator, schemaBytes }) => (validator ? schemaBytes : 1),
    memoMethod: (_key, _stale, { context }) => planFor(context),
  });
  private readonly keys = new WeakMap<Schema, string>();

  /** @param limitMs time for a check in a thread, from its request on */
  constructor(limitMs?: number) {
    this.pool = new CheckPool(limitMs);
  }

  /**
   * Reads a payload and checks it against its kind.
   *
   * @throws Problem 400 if it is not valid, or its schema is beyond the bounds; 503 if too many wait, or the check did
   * not end in time
   */
  async read(owner: Owner, kind: EventKind, body: Uint8Array): Promise<Payload> {
    const payload = readPayload(body);
    const { schema } = kind;
    const key = this.keyOf(schema);
    const plan = this.plans.memo(key, { context: schema });
    const reading = readingSteps(plan, payload.text, body.length);
    const steps = stepsFor(plan.cost, body.length) + reading;
    // Built-in kinds are cheap to check, except for reading long numbers.
    const isCheap = (isBuiltIn(kind) ? reading : steps) <= MAIN_THREAD.steps;
    const violations =
      isCheap && plan.validator
        ? plan.validator(payload.value, payload.text)
        : await this.pool.run<PayloadTask, Violations | undefined>(
            owner,
            'checkPayload',
            steps + plan.compiling <= QUICK_STEPS,
            { key, schema, schemaBytes: plan.schemaBytes, text: payload.text },
          );
    if (violations) throw invalidPayload(kind.name, violations);
    return payload;
  }

  /**
   * Checks a schema that an account brings.
   *
   * @returns what is wrong, with pointers into the request's body
   * @throws Problem 503 if too many wait, or the check did not end in time
   */
  async checkSchema(owner: Owner, schema: Schema): Promise<InputError[]> {
    const { errors, size } = checkBounds(schema);
    if (errors.length > 0) return errors;
    return this.pool.run(owner, 'checkSchema', compilingSteps(size) <= QUICK_STEPS, schema);
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    await this.pool.close();
  }

  private keyOf(schema: Schema): string {
    let key = this.keys.get(schema);
    if (key === undefined) {
      key = createHash('sha256').update(JSON.stringify(schema)).digest('hex');
      this.keys.set(schema, key);
    }
    return key;
  }
}

/** @throws Problem if the schema is beyond the bounds, as none is that this version has accepted */
function planFor(schema: Schema): Plan {
  const { errors, size } = checkBounds(schema);
  if (errors.length > 0)
    throw new Problem(
      'payload_too_complex',
      "The event kind's schema is beyond the bounds. Give the event kind a simpler schema.",
    );
  const isSmall = size.subschemas <= MAIN_THREAD.subschemas && size.patternSize <= MAIN_THREAD.patternSize;
  return {
    cost: costOf(schema),
    compiling: compilingSteps(size),
    schemaBytes: compiledBytes(schema, size),
    isComparing: comparesNumbers(schema),
    ...(isSmall && { validator: compilePayloadSchema(schema) }),
  };
}

/** Steps of compiling a schema: some for each subschema, and for each step of its patterns. */
function compilingSteps({ subschemas, patternSize }: SchemaSize): number {
  return subschemas * 20_000 + patternSize * 200;
}

/** Steps of reading numbers digit by digit, where these can matter. @param bytes the payload's length as UTF-8 */
function readingSteps({ isComparing }: Plan, text: string, bytes: number): number {
  return isComparing && mayLoseDigits(text) ? stepsFor(EXACT_READING, bytes) : 0;
}

function isBuiltIn({ name, schema }: EventKind): boolean {
  return findEventKind(name)?.schema === schema;
}
