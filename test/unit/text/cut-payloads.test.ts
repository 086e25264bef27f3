import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cutPayloads } from '../../../src/domain/text/cut-payloads.js';

const cut = (text: string, most = 100) => {
  const { rest, payloads } = cutPayloads(Buffer.from(text), most) ?? assert.fail('too many');
  return { rest: rest.toString(), payloads: payloads.map(String) };
};

/** JSON with white space, escapes and brackets in strings. */
const json = fc
  .tuple(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t', '\r\n'))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent));

describe('payloads in a body of several events', () => {
  it('are cut out byte for byte, and the rest has their numbers', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), fc.constantFrom('', ' ', '\n\t'), (payloads, space) => {
        const body = payloads.map(
          (one) => `{"kind":"a,]}","payload"${space}:${space}${one}${space},"keys":{"payload":"x"}}`,
        );
        const { rest, payloads: found } = cut(`{"events":[${body.join()}],"payload":1}`);
        assert.deepEqual(found, payloads);
        const { events } = JSON.parse(rest) as { events: { payload: number }[] };
        assert.deepEqual(
          events.map(({ payload }) => payload),
          payloads.map((_, index) => index),
        );
      }),
    );
  });

  const cases: Record<string, [body: string, payloads: string[]]> = {
    'of a name with escapes are left': ['{"events":[{"\\u0070ayload":{}}]}', []],
    'at another depth are left': ['{"payload":1,"events":[{"a":{"payload":2}}]}', []],
    'are told when they are there twice': ['{"events":[{"payload":1,"payload":[2]}]}', ['1', '[2]']],
    'that are no JSON are cut up to where the event goes on': [
      '{"events":[{"payload": 1 2 ,"a":"\\"}',
      ['1 2'],
    ],
    'that never end are cut to the end': ['{"events":[{"payload": {"a":"', ['{"a":"']],
    'that are missing are empty': ['{"events":[{"payload":}]}', ['']],
  };
  for (const [name, [body, payloads]] of Object.entries(cases))
    it(name, () => assert.deepEqual(cut(body).payloads, payloads));

  it('are valid with the rest exactly if the whole body is', () => {
    const parses = (text: string) => {
      try {
        return JSON.parse(text) !== undefined;
      } catch {
        return false;
      }
    };
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"payload"',
      '"a"',
      '1',
      ' ',
      '"events"',
      '\\',
      '"',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (some) => {
        const body = `{"events":[{"payload":${some.join('')}}]}`;
        const { rest, payloads } = cut(body);
        assert.equal(parses(rest) && payloads.every(parses), parses(body), body);
      }),
      { numRuns: 2_000 },
    );
  });

  it('are counted before they are looked into', () => {
    assert.equal(cutPayloads(Buffer.from(`{"events":[${'{"payload":1},'.repeat(3)}`), 2), undefined);
  });
});
