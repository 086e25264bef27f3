import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compilePayloadSchema } from '../src/schema/payload-schema.js';
import { findLostDigits, parseExactly } from '../src/values/exact-json.js';
import { compareNumbers, isMultiple, readNumber } from '../src/values/exact-number.js';

/** A rational number: a numerator over a power of ten. */
interface Rational {
  over: bigint;
  scale: bigint;
}

/** The value of a JSON number, by definition. */
function rational(text: string): Rational {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? assert.fail(text);
  const places = Number(exponent) - fraction.length;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return places >= 0
    ? { over: digits * 10n ** BigInt(places), scale: 1n }
    : { over: digits, scale: 10n ** BigInt(-places) };
}

function compare(a: Rational, b: Rational): number {
  const difference = a.over * b.scale - b.over * a.scale;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function divides(divisor: Rational, value: Rational): boolean {
  return (value.over * divisor.scale) % (divisor.over * value.scale) === 0n;
}

const digits = (most: number) =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: most })
    .map((list) => list.join('').replace(/^0+(?=\d)/, ''));
const fraction = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 25 });
const exponent = fc.tuple(
  fc.constantFrom('e', 'E'),
  fc.constantFrom('', '+', '-'),
  fc.integer({ min: 0, max: 340 }),
);
/** Any JSON number, also one that no double stands for. */
const written = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(30),
    fc.option(
      fraction.map((list) => `.${list.join('')}`),
      { nil: '' },
    ),
    fc.option(
      exponent.map((parts) => parts.join('')),
      { nil: '' },
    ),
  )
  .map((parts) => parts.join(''));
/** As a schema has them: doubles. */
const double = fc.oneof(
  fc.constantFrom(0, 0.01, 0.1, 1, 19.99, 8.69, 0.07, 1e21, 2 ** 53, 5e-324, Number.MAX_VALUE),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);
const divisor = double.map(Math.abs).filter((value) => value > 0);
/** Numbers near a double, which a double cannot tell from it. */
const near = fc.tuple(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), fc.integer({ min: -3, max: 3 }));

const isValid = (schema: Record<string, unknown>, json: string) =>
  compilePayloadSchema(schema)(JSON.parse(json), json) === undefined;

describe('numbers of a payload', () => {
  it('are compared as the rational numbers that were written', () => {
    fc.assert(
      fc.property(written, double, (text, limit) => {
        // Of -0 the order is -0, which is 0: adding 0 makes it so.
        const order = Math.sign(compareNumbers(readNumber(text), limit)) + 0;
        assert.equal(order, compare(rational(text), rational(String(limit))));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are multiples in decimal', () => {
    fc.assert(
      fc.property(written, divisor, (text, unit) => {
        const expected = divides(rational(String(unit)), rational(text));
        assert.equal(isMultiple(readNumber(text), unit), expected);
      }),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 20n }),
        fc.integer({ min: 0, max: 30 }),
        (times, places) => {
          // By construction a multiple, so that both outcomes are met.
          const text = `${times * 7n}e-${places}`;
          assert.ok(isMultiple(readNumber(text), Number(`7e-${places}`)), text);
        },
      ),
    );
  });

  it('are equal if they are the same rational number, however they are written', () => {
    const validate = compilePayloadSchema({ uniqueItems: true });
    fc.assert(
      fc.property(near, ([middle, away]) => {
        const [a, b] = [`${middle}`, `${middle + BigInt(away)}.0e0`];
        for (const json of [`[${a},${b}]`, `[{"n":${a}},{"n":${b}}]`])
          assert.equal(validate(JSON.parse(json), json) === undefined, away !== 0, json);
      }),
      { numRuns: 300 },
    );
  });

  it('are checked by each keyword as by rational arithmetic, wherever they are in a payload', () => {
    const some = fc.array(written, { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(some, double, divisor, (any, limit, unit) => {
        const [bound, step] = [rational(String(limit)), rational(String(unit))];
        const texts = [...any, String(limit), String(unit)];
        const order = (text: string) => compare(rational(text), bound);
        const cases: [Record<string, unknown>, (text: string) => boolean][] = [
          [{ type: 'number' }, () => true],
          [{ type: 'integer' }, (text) => divides(rational('1'), rational(text))],
          [{ minimum: limit }, (text) => order(text) >= 0],
          [{ exclusiveMinimum: limit }, (text) => order(text) > 0],
          [{ maximum: limit }, (text) => order(text) <= 0],
          [{ exclusiveMaximum: limit }, (text) => order(text) < 0],
          [{ const: limit }, (text) => order(text) === 0],
          [{ enum: [limit, 'x'] }, (text) => order(text) === 0],
          [{ multipleOf: unit }, (text) => divides(step, rational(text))],
        ];
        // Each keyword has a property for each place: by itself, within an object, and behind other entries.
        const each = (place: string, of: (index: number) => unknown) =>
          Object.fromEntries(cases.map((_, index) => [`${place}${index}`, of(index)]));
        const $ref = (index: number) => ({ $ref: `#/$defs/n${index}` });
        const validate = compilePayloadSchema({
          $defs: Object.fromEntries(cases.map(([schema], index) => [`n${index}`, schema])),
          properties: {
            ...each('itself', $ref),
            ...each('within', (index) => ({ prefixItems: [true, { properties: { n: $ref(index) } }] })),
            ...each('behind', (index) => ({ prefixItems: [true, true], items: $ref(index) })),
            deep: { const: { n: [limit] } },
          },
        });
        /** Which members of a payload are valid, whose numbers are a text instead. */
        const valid = (payload: object, text: string) => {
          const json = JSON.stringify(payload).replaceAll('0.125', text);
          const wrong = validate(JSON.parse(json), json)?.errors.map(({ pointer }) => pointer?.split('/')[1]);
          return Object.keys(payload).map((name) => !wrong?.includes(name));
        };
        for (const text of texts) {
          const expected = cases.map(([, isMet]) => isMet(text));
          for (const payload of [
            each('itself', () => 0.125),
            each('within', () => [0, { n: 0.125 }]),
            each('behind', () => [0, 0, 0.125]),
          ])
            assert.deepEqual(valid(payload, text), expected, `${JSON.stringify(payload)} of ${text}`);
          assert.deepEqual(valid({ deep: { n: [0.125] } }, text), [order(text) === 0], text);
        }
      }),
      { numRuns: 5 },
    );
  });

  for (const [json, schema, expected] of [
    ...['19.99', '8.69', '0.07', '1.1', '-4.35', '1e21', '0'].map(
      (n) => [n, { multipleOf: 0.01 }, true] as const,
    ),
    ['19.995', { multipleOf: 0.01 }, false],
    ['0.001', { multipleOf: 0.01 }, false],
    ['1e21', { multipleOf: 1 }, true],
    ['1e21', { type: 'integer' }, true],
    ['1.00000000000000000001', { type: 'integer' }, false],
    ['1.00000000000000000001', { maximum: 1 }, false],
    ['1e400', { type: 'number', minimum: 1e308 }, true],
    ['1e-400', { exclusiveMinimum: 0 }, true],
    ['1e-400', { const: 0 }, false],
    ['9007199254740993', { maximum: 9007199254740992 }, false],
    ['9007199254740993', { enum: [9007199254740992] }, false],
    ['[12345678901234567890423,12345678901234567890424]', { uniqueItems: true }, true],
    ['[9007199254740993,9007199254740993.0]', { uniqueItems: true }, false],
    ['[9007199254740993,"#90071992547409930000000000000000e15"]', { uniqueItems: true }, true],
    ['{"a":9007199254740993,"a":5}', { properties: { a: { const: 5 } } }, true],
    ['{"__proto__":9007199254740993}', { propertyNames: { const: '__proto__' }, type: 'object' }, true],
    ['[9007199254740993,true]', { items: { not: { type: 'object' } } }, true],
  ] as const) {
    it(`${json} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(schema)}`, () => {
      assert.equal(isValid(schema, json), expected);
    });
  }

  it('are named in errors by what the schema says', () => {
    const errors = (schema: Record<string, unknown>) =>
      compilePayloadSchema(schema)(9007199254740992, '9007199254740993')?.errors.map(({ detail }) => detail);
    assert.deepEqual(errors({ maximum: 5 }), ['must be at most 5']);
    assert.deepEqual(errors({ exclusiveMinimum: 1e300 }), ['must be greater than 1e+300']);
    assert.deepEqual(errors({ const: 9007199254740992 }), ['must be 9007199254740992']);
    assert.deepEqual(errors({ enum: [1, 2] }), ['must be one of: 1, 2']);
    assert.deepEqual(errors({ multipleOf: 0.5, maximum: 1 }), ['must be at most 1']);
  });

  it('with absurd exponents are compared without writing them out', () => {
    for (const [json, schema, expected] of [
      ['1e999999999999', { multipleOf: 0.01 }, true],
      ['1e-999999999999', { multipleOf: 0.01 }, false],
      ['1e999999999999', { maximum: Number.MAX_VALUE }, false],
      [`1e${'9'.repeat(1_000)}`, { minimum: 1 }, true],
      [`[1e1${'0'.repeat(40)},1e2${'0'.repeat(40)}]`, { uniqueItems: true }, true],
      [`[1e1${'0'.repeat(40)},10e${'9'.repeat(40)}]`, { uniqueItems: true }, false],
    ] as const)
      assert.equal(isValid(schema, json), expected, json);
  });

  it('as long as a payload take time in proportion to it [world]', () => {
    const json = `${'1'.repeat(250_000)}.5`;
    const keywords = [{ const: 1 }, { enum: [1] }, { maximum: 1 }, { multipleOf: 1.2345678901234566e-7 }];
    const schema = { anyOf: Array.from({ length: 200 }, () => keywords).flat() };
    // One of them alone, done naively, would take longer than the test may.
    assert.equal(isValid(schema, json), false);
  });

  it('are looked at digit by digit only where doubles lose some', () => {
    assert.equal(parseExactly('{"id":"12345678901234567890","n":[1.5,1e21]}'), undefined);
    assert.deepEqual(findLostDigits('{"a/b":[1,9007199254740993],"c":1e400}'), ['/a~1b/1', '/c']);
    assert.deepEqual(findLostDigits('9007199254740992'), []);
  });

  it('nested too deeply to be compared are refused', () => {
    const json = `${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`;
    const { errors } = compilePayloadSchema({ uniqueItems: true })(JSON.parse(json), json) ?? assert.fail();
    assert.deepEqual(errors, [{ pointer: '', detail: 'is nested too deeply' }]);
  });
});
