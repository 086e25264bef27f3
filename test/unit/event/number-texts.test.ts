import { deepEqual, equal, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { lookUp, pathOf } from '../../../packages/payload-contract/src/filter/index.js';
import {
  ExactNumber,
  MAX_PAYLOAD_BYTES,
  NumberTexts,
  parseNumbers,
  valuesOf,
} from '../../../packages/payload-contract/src/index.js';
import { PayloadChecks } from '../../../src/api/payloads/payload-checks.js';
import { findEventKind } from '../../../src/domain/event/event-kinds.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { needs } from '../../support/needs.js';
import { HOSTILE_NUMBERS } from '../../support/parts/hostile-numbers.js';
import { mainThreadTime, referenceTime } from '../../support/parts/thread-time.js';

// Threads that check payloads run what is built.
needs('build');

/** How often a cost is measured: the least counts, as the thread does other things meanwhile. */
const MEASURED = 5;

/**
 * How many times the {@link referenceTime} of the same moment something takes of this thread. A check that is refused
 * because the machine is too busy for it is asked for again, as producers do, and is not counted.
 */
async function cost(check: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  while (costs.length <= MEASURED) {
    const began = mainThreadTime();
    const wasMade = await check().then(
      () => true,
      (error: unknown) => {
        if (error instanceof Problem && error.code === 'unavailable') return false;
        throw error;
      },
    );
    if (wasMade) costs.push((mainThreadTime() - began) / referenceTime());
  }
  // Code of the first run is not compiled yet.
  return Math.min(...costs.slice(1));
}

describe('a number of a payload, at a path', () => {
  const name = fc.constantFrom('a', 'b', '', '0', '1', '"', '\\', 'é', '__proto__', 'length', ']}');
  const written = fc.constantFrom('1', '-0', '9007199254740993', '1e999', '1.50', '1E-400');
  const space = fc.constantFrom('', ' ', '\n\t ');
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'medium' },
      written,
      fc.constantFrom('"x"', '"1e999,]}\\"{"', '"\\\\"', 'true', 'null', '{}', '[ ]'),
      fc.tuple(space, fc.array(tie('json'))).map(([gap, list]) => `[${gap}${list.join(`${gap},`)}${gap}]`),
      fc
        .tuple(space, fc.array(fc.tuple(name, tie('json'))))
        .map(
          ([gap, members]) =>
            `{${gap}${members.map(([key, value]) => `${JSON.stringify(key)}${gap}:${gap}${value}`).join(`${gap},${gap}`)}${gap}}`,
        ),
    ),
  }));
  const path = fc.array(name, { maxLength: 4 });

  it('is the one that a parser of the whole text finds there', () => {
    let found = 0;
    fc.assert(
      fc.property(json, fc.array(path, { minLength: 20 }), (text, paths) => {
        const numbers = new NumberTexts(` ${text} `);
        const whole = parseNumbers(text, (number) => new ExactNumber(number));
        for (const names of [[], ...paths]) {
          const expected = lookUp(whole, names);
          if (!(expected instanceof ExactNumber)) continue;
          found += 1;
          const number = numbers.at(names);
          equal(number instanceof ExactNumber ? number.text : number, value(expected.text), text);
        }
      }),
      { numRuns: 1_000 },
    );
    ok(found > 500);
  });
  const value = (text: string) =>
    Number(text) === Number('1e999') || /3$|-400/.test(text) ? text : Number(text);

  it('is exact however deeply the text is nested', () => {
    const depth = 100_000;
    const text = `{"deep":${'['.repeat(depth)}${']'.repeat(depth)},"n":9007199254740993}`;
    const number = valuesOf(text).at(pathOf('/n'));
    deepEqual(number instanceof ExactNumber && number.text, '9007199254740993');
  });
});

describe('a payload of numbers that doubles cannot stand for', () => {
  const kind = findEventKind('purchase');
  const owner = { account: 'acct_a', platform: 'acct_a' };

  for (const [what, text] of Object.entries(HOSTILE_NUMBERS)) {
    it(`takes little of the main thread, which reads only what is asked for: ${what}`, async () => {
      ok(kind && text.length <= MAX_PAYLOAD_BYTES && text.length > 0.9 * MAX_PAYLOAD_BYTES);
      const body = Buffer.from(text);
      const checks = new PayloadChecks();
      try {
        const times = await cost(async () => {
          const payload = await checks.read(owner, kind, body);
          equal(valuesOf(payload.text, payload.value).at(pathOf('/total')), 12.5);
        });
        ok(times < 3, `${times} times the reference`);
      } finally {
        await checks.close();
      }
    });
  }
});
