import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { z } from 'zod';
import { findExcess, recordOf } from '../../../src/api/http/bounds/find-excess.js';
import { MAX_NESTING, requireShallow } from '../../../src/api/http/bounds/nesting.js';
import { checkBody, invalidRequest } from '../../../src/api/http/validation.js';
import { MAX_ERRORS } from '../../../src/domain/http/problem.js';

/** As far as it is read here: the JSON Schema of a request's body. */
interface Shape {
  type?: string;
  maxItems?: number;
  maxProperties?: number;
  additionalProperties?: boolean | object;
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: Shape[];
}

describe('a list or an object of a request', () => {
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
    components: { schemas: Record<string, Shape> };
  };

  it('has a greatest size, in every body of the OpenAPI document', () => {
    const bodies = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Body'));
    assert.ok(bodies.length > 20, String(bodies.length));
    assert.deepEqual(
      bodies.flatMap(([name, shape]) => unbounded(shape, name)),
      [],
    );
  });

  const schema = z.strictObject({
    names: z
      .array(z.strictObject({ name: z.string() }))
      .max(3)
      .optional(),
    notes: recordOf(z.string(), z.array(z.int()).max(2), 3).default({}),
    either: z
      .union([z.string(), z.array(z.string()).max(1)])
      .nullable()
      .optional(),
  });
  const cases: [unknown, string | undefined][] = [
    [{ names: [1, 2, 3] }, undefined],
    [{ names: [1, 2, 3, 4] }, '/names must have at most 3 entries'],
    [{ notes: { a: 1, b: 2, c: 3, d: 4 } }, '/notes must have at most 3 entries'],
    [{ notes: { a: [1, 2, 3] } }, '/notes/a must have at most 2 entries'],
    [{ either: ['a', 'b'] }, '/either must have at most 1 entry'],
    [{ either: 'ab' }, undefined],
    [
      Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`n${index}`, 1])),
      ' has too many members; known here: names, notes, either',
    ],
    [[], undefined],
    [null, undefined],
  ];
  for (const [value, expected] of cases) {
    it(`${JSON.stringify(value).slice(0, 40)}: ${expected ?? 'is not too large'}`, () => {
      const excess = findExcess(schema, value);
      assert.equal(
        excess && `${excess.path.map((part) => `/${String(part)}`).join('')} ${excess.detail}`,
        expected,
      );
    });
  }

  it('is not looked into if it is too large: that is the one error', () => {
    const errors = [{ pointer: '/names', detail: 'must have at most 3 entries' }];
    assert.throws(() => checkBody(schema, { names: Array(10_000).fill({}) }), { errors });
  });

  it('tells of itself that it is too large: of a list nothing else is read', () => {
    const read: PropertyKey[] = [];
    const names = new Proxy(Array(10_000).fill('a'), {
      get: (list, name) => {
        read.push(name);
        return Reflect.get(list, name);
      },
      ownKeys: () => assert.fail('its indexes are listed'),
    });
    assert.ok(findExcess(schema, { names }));
    assert.deepEqual(read, ['length']);
  });
});

describe('a body', () => {
  const nested = (depth: number) => Buffer.from(`${'['.repeat(depth)}"]]\\"[["${']'.repeat(depth)}`);

  it('is nested within a bound, whatever its texts hold', () => {
    requireShallow(nested(MAX_NESTING));
    requireShallow(Buffer.from(JSON.stringify(['['.repeat(1_000), '"', '\\', '\\"{'])));
    assert.throws(() => requireShallow(nested(MAX_NESTING + 1)), /must be nested at most 128 deep/);
    assert.throws(() => requireShallow(Buffer.from('{"a":'.repeat(MAX_NESTING + 1))), /nested/);
  });

  it('of any JSON value is as deep as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) =>
        requireShallow(Buffer.from(JSON.stringify(value))),
      ),
    );
  });
});

describe('an answer that refuses', () => {
  it('tells of twenty errors, and cuts long names', () => {
    const name = 'n'.repeat(60_000);
    const { errors, message } = invalidRequest(
      Array(1_000).fill({ pointer: `/${name}`, detail: 'is unknown' }),
    );
    assert.equal(errors.length, MAX_ERRORS);
    assert.match(message, /; and more\.$/);
    assert.ok(JSON.stringify({ errors, message }).length < 12_000);
  });
});

/** Places of a body that have no greatest size. */
function unbounded(shape: Shape, at: string): string[] {
  const { type, maxItems, maxProperties, additionalProperties, properties = {}, items, anyOf = [] } = shape;
  const isOpen =
    (type === 'array' && maxItems === undefined) ||
    (type === 'object' && additionalProperties !== false && maxProperties === undefined);
  return [
    ...(isOpen ? [at] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => unbounded(inner, `${at}.${name}`)),
    ...(items ? unbounded(items, `${at}[]`) : []),
    ...anyOf.flatMap((inner) => unbounded(inner, at)),
  ];
}
