import assert from 'node:assert/strict';
import { compilePayloadSchema } from '../../../packages/payload-contract/src/index.js';
import { EVENT_KINDS, type EventKind } from '../../../src/domain/event/event-kinds.js';
import { invalidPayload, readPayload } from '../../../src/domain/event/payload.js';
import { Problem } from '../../../src/domain/http/problem.js';

const [purchase] = EVENT_KINDS as [EventKind];
const GOOD = {
  order_id: 'o-1',
  customer_email: 'ada@example.com',
  total: 12.5,
  items: [{ name: 'Notebook', qty: 2 }],
  created_at: '2026-01-31T12:00:00Z',
};

/** As the API checks an event. */
function check(kind: EventKind, body: Uint8Array) {
  const payload = readPayload(body);
  const violations = compilePayloadSchema(kind.schema)(payload.value);
  if (violations) throw invalidPayload(kind.name, violations);
  return payload;
}

function refusal(body: string | Uint8Array): Problem {
  try {
    check(purchase, typeof body === 'string' ? Buffer.from(body) : body);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
  assert.fail(`accepted: ${body}`);
}

describe('a payload', () => {
  it('is given back as it came', () => {
    const text = ` ${JSON.stringify(GOOD, undefined, '\t')}\r\n`;
    assert.equal(check(purchase, Buffer.from(text)).text, text);
  });

  const { items, ...withoutItems } = GOOD;
  const accepted: [string, unknown][] = [
    ['an internationalized local part', { ...GOOD, customer_email: 'josé@example.com' }],
    ['an internationalized domain', { ...GOOD, customer_email: 'ada@exämple.com' }],
    ['an address in another script', { ...GOOD, customer_email: '用户@例子.广告' }],
    ['no items', { ...withoutItems, items: [] }],
    ['zero of an item', { ...withoutItems, items: [{ ...items[0], qty: 0 }] }],
    ['items that are returned', { ...withoutItems, items: [{ ...items[0], qty: -1 }] }],
    ['an empty name', { ...withoutItems, items: [{ name: '', qty: 1 }] }],
    ['an empty id', { ...GOOD, order_id: '' }],
    ['a long id', { ...GOOD, order_id: 'x'.repeat(10_000) }],
    ['a negative total', { ...GOOD, total: -1 }],
    ['a leap second', { ...GOOD, created_at: '2016-12-31T23:59:60Z' }],
  ];
  for (const [name, value] of accepted) {
    it(`of a purchase may have ${name}`, () => {
      check(purchase, Buffer.from(JSON.stringify(value)));
    });
  }

  it('may hold more than its kind names', () => {
    check(purchase, Buffer.from(JSON.stringify({ ...GOOD, more: { a: [1] } })));
  });

  const { order_id: _, ...withoutOrder } = GOOD;
  const mistakes: [string, unknown, string, RegExp][] = [
    ['a missing member', withoutOrder, '/order_id', /is missing/],
    ['a missing member of an item', { ...GOOD, items: [{ name: 'a' }] }, '/items/0/qty', /is missing/],
    ['a wrong type', { ...GOOD, total: '12.50' }, '/total', /must be a number/],
    ['null', { ...GOOD, total: null }, '/total', /must be a number/],
    ['an object instead of a list', { ...GOOD, items: {} }, '/items', /must be a list/],
    ['a wrong item', { ...GOOD, items: [GOOD.items[0], 5] }, '/items/1', /must be an object/],
    [
      'a fraction of an item',
      { ...GOOD, items: [{ name: 'a', qty: 1.5 }] },
      '/items/0/qty',
      /must be a whole number/,
    ],
    ['a number as id', { ...GOOD, order_id: 1 }, '/order_id', /must be a string/],
    [
      'a text that is not an e-mail address',
      { ...GOOD, customer_email: 'ada' },
      '/customer_email',
      /must be an e-mail address, such as/,
    ],
    ['a local time', { ...GOOD, created_at: '2026-01-31T12:00:00' }, '/created_at', /in UTC/],
    ['a time of another zone', { ...GOOD, created_at: '2026-01-31T12:00:00+01:00' }, '/created_at', /in UTC/],
    ['a time that does not exist', { ...GOOD, created_at: '2026-13-31T12:00:00Z' }, '/created_at', /in UTC/],
    ['a day that does not exist', { ...GOOD, created_at: '2026-02-30T12:00:00Z' }, '/created_at', /in UTC/],
    ['a day too many', { ...GOOD, created_at: '2027-02-29T12:00:00Z' }, '/created_at', /in UTC/],
    ['a second too many', { ...GOOD, created_at: '2026-01-31T12:00:60Z' }, '/created_at', /in UTC/],
    ['a number as time', { ...GOOD, created_at: 1_769_860_800 }, '/created_at', /must be a string/],
    ['a list instead of an object', [GOOD], '', /must be an object/],
    ['a string instead of an object', 'purchase', '', /must be an object/],
    ['null instead of an object', null, '', /must be an object/],
  ];
  for (const [name, value, pointer, detail] of mistakes) {
    it(`is refused for ${name}, naming the place`, () => {
      const problem = refusal(JSON.stringify(value));
      assert.equal(problem.code, 'invalid_payload');
      assert.equal(problem.status, 400);
      assert.deepEqual(
        problem.errors.map((error) => error.pointer),
        [pointer],
      );
      assert.match(problem.errors[0]?.detail ?? '', detail);
      assert.ok(problem.message.includes(pointer || 'the body'));
    });
  }

  it('lists every mistake at once', () => {
    const problem = refusal('{"order_id":1,"items":[{}]}');
    assert.deepEqual(problem.errors.map(({ pointer }) => pointer).sort(), [
      '/created_at',
      '/customer_email',
      '/items/0/name',
      '/items/0/qty',
      '/order_id',
      '/total',
    ]);
  });

  it('may be dated to fractions of a second, and to a leap day', () => {
    for (const created_at of ['2026-01-31T12:00:00.123456789012Z', '2028-02-29T00:00:00+00:00']) {
      check(purchase, Buffer.from(JSON.stringify({ ...GOOD, created_at })));
    }
  });

  const malformed: [string, string, RegExp][] = [
    ['a trailing comma', '{\n  "a": 1,\n}', /line 3, column 1/],
    ['a missing quote', '{"a": 1,\n "b: 2}', /line 2, column 2/],
    ['a word', '{"a": yes}', /line 1, column 7/],
    ['single quotes', "{'a': 1}", /line 1, column 2/],
    ['a comment', '{"a": 1 /* one */}', /line 1, column 9/],
    ['text after the end', '{"a": 1}\r\n{"b": 2}', /line 2, column 1/],
    ['an early end', '{"a": [1, 2', /line 1, column 12/],
    ['nothing', '', /it is empty/],
    ['white space', ' \n ', /it is empty/],
    ['a byte order mark', '\ufeff{"a": 1}', /begins with a byte order mark \(U\+FEFF\)/],
    ['a raw line break in a text', '{"a": "x\ny"}', /line 1, column 7/],
    ['a leading zero', '{"a": 012}', /./],
    ['no number', '{"a": NaN}', /line 1, column 7/],
  ];
  for (const [name, text, place] of malformed) {
    it(`is refused for ${name}, naming line and column`, () => {
      const problem = refusal(text);
      assert.equal(problem.code, 'invalid_json');
      assert.match(problem.message, place);
    });
  }

  it('is refused if it is not UTF-8', () => {
    const problem = refusal(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    assert.equal(problem.code, 'invalid_json');
    assert.match(problem.message, /not valid UTF-8/);
  });

  it('appears in no error message', () => {
    const secret = 'ada.lovelace@example.com';
    for (const body of [
      `{"customer_email":"${secret}" oops}`,
      `{"customer_email":"${secret}`,
      secret,
      JSON.stringify({ ...GOOD, customer_email: `${secret} ` }),
      JSON.stringify({ ...GOOD, order_id: { [secret]: 1 } }),
    ]) {
      const problem = refusal(body);
      const said = JSON.stringify([problem.message, problem.errors]);
      assert.ok(!said.includes('lovelace'), said);
    }
  });
});
