import assert from 'node:assert/strict';
import fc from 'fast-check';
import { z } from 'zod';
import { checkBody, checkQuery } from '../../../src/api/http/validation.js';
import { type InputError, Problem } from '../../../src/domain/http/problem.js';

const schema = z.strictObject({
  name: z.string().min(1).max(3),
  count: z.int().min(0).max(9).optional(),
  ratio: z.number().multipleOf(0.5).optional(),
  kind: z.enum(['a', 'b']).optional(),
  version: z.literal(1).optional(),
  live: z.boolean().optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  notes: z.record(z.string(), z.string()).optional(),
  nested: z.strictObject({ at: z.iso.datetime() }).optional(),
  link: z.url().optional(),
  pattern: z.string().regex(/^x$/, 'must be x').optional(),
  either: z.union([z.string(), z.number()]).optional(),
});

/** Words that only the validator uses. */
const FOREIGN =
  /invalid (input|option|string|key)|unrecognized|too (big|small)|expected|received|undefined|nan/i;

/** Errors that a check reports. */
function refused(check: () => unknown): readonly InputError[] {
  try {
    check();
    return [];
  } catch (error) {
    assert.ok(error instanceof Problem);
    return error.errors;
  }
}

function errorsOf(body: unknown) {
  return refused(() => checkBody(schema, body)).map(({ pointer, detail }) => `${pointer} ${detail}`);
}

describe('what is said of invalid input', () => {
  const cases: [object, string][] = [
    [{ name: undefined }, '/name is missing'],
    [{ name: 1 }, '/name must be a string'],
    [{ name: '' }, '/name must have at least 1 character'],
    [{ name: 'abcd' }, '/name must have at most 3 characters'],
    [{ count: 1.5 }, '/count must be a whole number'],
    [{ count: -1 }, '/count must be at least 0'],
    [{ count: 10 }, '/count must be at most 9'],
    [{ ratio: 0.3 }, '/ratio must be a multiple of 0.5'],
    [{ kind: 'c' }, '/kind must be one of: a, b'],
    [{ version: 2 }, '/version must be 1'],
    [{ live: 'yes' }, '/live must be true or false'],
    [{ tags: 'a' }, '/tags must be a list'],
    [{ tags: [] }, '/tags must have at least 1 entry'],
    [{ tags: ['a', 'b', 'c'] }, '/tags must have at most 2 entries'],
    [{ notes: { a: 1 } }, '/notes/a must be a string'],
    [{ notes: [] }, '/notes must be an object'],
    [{ nested: { at: 'now' } }, '/nested/at must be an ISO 8601 time in UTC, such as 2026-01-31T12:00:00Z'],
    [{ nested: { at: '2026-01-31T12:00:00Z', 'a/b': 1 } }, '/nested/a~1b is unknown; known here: at'],
    [{ link: 'nowhere' }, '/link must be a URL'],
    [{ pattern: 'y' }, '/pattern must be x'],
    [{ either: true }, '/either is not valid'],
  ];
  for (const [change, expected] of cases) {
    it(`${JSON.stringify(change)}: ${expected}`, () => {
      assert.deepEqual(errorsOf({ name: 'n', ...change }), [expected]);
    });
  }

  it('of a body that is not an object', () => {
    assert.deepEqual(errorsOf([]), [' must be an object']);
  });

  it('of unknown parameters: one error each, with the known ones', () => {
    const query = z.strictObject({
      limit: z.coerce.number().int().default(25),
      after: z.string().optional(),
    });
    assert.deepEqual(
      refused(() => checkQuery(query, { limit: 'many', x: '1', y: '2' })),
      [
        { parameter: 'limit', detail: 'must be a number' },
        { parameter: 'x', detail: 'is unknown; known here: limit, after' },
        { parameter: 'y', detail: 'is unknown; known here: limit, after' },
      ],
    );
    assert.deepEqual(
      refused(() => checkQuery(z.strictObject({}), { x: '1' })),
      [{ parameter: 'x', detail: 'is unknown; nothing is expected here' }],
    );
  });

  it("is in our words and never in the validator's, whatever is sent", () => {
    const names = Object.keys(schema.shape);
    const body = fc.dictionary(fc.constantFrom(...names, 'other'), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(body, fc.jsonValue()), (value) => {
        for (const { detail } of refused(() => checkBody(schema, value)))
          assert.doesNotMatch(detail, FOREIGN);
      }),
      { numRuns: 500 },
    );
  });
});
