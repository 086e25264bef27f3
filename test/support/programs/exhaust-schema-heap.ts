import { PayloadChecks } from '../../../src/api/payloads/payload-checks.js';
import type { EventKind } from '../../../src/domain/event/event-kinds.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { until } from '../until.js';

// Runs in a process of its own, which it would end if a thread's heap were not limited well. It prints the outcome of
// each check as JSON.

/**
 * Twice what a thread needs to start and to check the small schema, and far too little to compile the large one.
 * Megabytes.
 */
const LITTLE_MB = 32;
/** Time limit of a check that ends by its heap, however busy the machine is. */
const NO_LIMIT_MS = 60_000;

const large = {
  properties: Object.fromEntries(Array.from({ length: 4_000 }, (_, i) => [`p${i}`, { format: 'date-time' }])),
};
const small = { uniqueItems: true, items: { pattern: '^[a-z0-9]*$' } };
const list = JSON.stringify(Array.from({ length: 2_000 }, (_, i) => `k${i}`));

const checks = new PayloadChecks(LITTLE_MB, NO_LIMIT_MS);

let tries = 0;

async function check(schema: object, text: string): Promise<string> {
  // An account that has used much gives way to everything else on the machine.
  tries += 1;
  try {
    await checks.read(
      { account: `acct_${tries}`, platform: `acct_${tries}` },
      { name: 'a.kind', schema } as unknown as EventKind,
      Buffer.from(text),
    );
    return 'valid';
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
}

/** On a busy machine a thread needs longer to start than a request may last: asked again. */
const outcomeOf = (schema: object, text: string) =>
  until(
    () => check(schema, text),
    (outcome) => outcome !== 'unavailable',
  );

const outcomes = [await outcomeOf(large, '{"p1":1}'), await outcomeOf(small, list)];
await checks.close();
process.stdout.write(JSON.stringify(outcomes));
