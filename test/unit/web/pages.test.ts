import assert from 'node:assert/strict';
import fc from 'fast-check';
import { findMistake } from '../../../packages/payload-contract/src/filter/index.js';
import { compilePayloadSchema } from '../../../packages/payload-contract/src/index.js';
import { renderPolicy, renderState } from '../../../src/domain/access/limits/rate-limit.js';
import { mergePatch as applyPatch } from '../../../src/domain/basics/objects.js';
import { EVENT_KINDS } from '../../../src/domain/event/event-kinds.js';
import { readRateLimits } from '../../../web/src/api/rate-limits.js';
import { countLines, lastLine, WholeLines } from '../../../web/src/files/whole-lines.js';
import { differences } from '../../../web/src/pages/desk/differences.js';
import { isPlainHttp, isPrivateUrl, mistakeInUrl } from '../../../web/src/pages/endpoints/form/check-url.js';
import { mergePatch } from '../../../web/src/pages/endpoints/form/merge-patch.js';
import {
  formatNamedValues,
  parseNamedValues,
  parseWaits,
} from '../../../web/src/pages/endpoints/form/named-values.js';
import { parseFilter } from '../../../web/src/pages/endpoints/form/parse-filter.js';
import { LANGUAGES, snippet } from '../../../web/src/pages/endpoints/secret/snippets.js';
import { readDeliveryFilters } from '../../../web/src/parts/deliveries/filters.js';
import { exampleOf } from '../../../web/src/parts/kinds/example.js';
import { fieldsOf } from '../../../web/src/parts/kinds/fields.js';
import { fromLocal, toLocal } from '../../../web/src/parts/local-time.js';

describe('the rules of the web application', () => {
  it('a patch makes one object into the other, by the rules of the service', () => {
    // A patch cannot set a value to null: endpoints have none.
    const json = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'not'),
      fc.oneof(
        fc.integer(),
        fc.string(),
        fc.array(fc.integer(), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom('path', 'equals', 'not'), fc.integer()),
      ),
    );
    fc.assert(
      fc.property(json, json, (before, after) => {
        const result = applyPatch(before, mergePatch(before, after));
        assert.deepEqual(JSON.parse(JSON.stringify(result)), JSON.parse(JSON.stringify(after)));
      }),
    );
    assert.deepEqual(mergePatch({ a: 1, b: { c: 1 } }, { a: 1, b: { c: 1 } }), {});
  });

  it('a filter is tried out if the service would take it, and otherwise refused in the same words', () => {
    const refused = { path: '/total', gte: 100 };
    const { detail = '' } = findMistake(refused) ?? {};
    assert.deepEqual(parseFilter(JSON.stringify(refused)), { mistake: `The filter ${detail}` });
    assert.match(detail, /"gte" is none\..* Did you mean "at_least"\?$/);
    assert.match(
      parseFilter('{"all": [{"path": "/a", "in": []}]}').mistake ?? '',
      /^\/all\/0\/in must be a list/,
    );
    assert.match(parseFilter('[]').mistake ?? '', /^The filter must be a condition/);
    assert.deepEqual(parseFilter('{"path": "/a", "equals": 1}'), { filter: { path: '/a', equals: 1 } });
    assert.deepEqual(parseFilter(' '), {});
  });

  it('an example of a built-in kind is valid', () => {
    for (const { name, schema } of EVENT_KINDS) {
      assert.equal(compilePayloadSchema(schema)(exampleOf(schema)), undefined, name);
    }
  });

  it('an example is made from the schema if it has none', () => {
    const schema = {
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid' },
        state: { enum: ['new', 'old'] },
        parts: { type: 'array', items: { type: 'object', properties: { count: { type: 'integer' } } } },
      },
    };
    assert.deepEqual(exampleOf(schema), {
      id: '123e4567-e89b-12d3-a456-426614174000',
      state: 'new',
      parts: [{ count: 1 }],
    });
  });

  it('fields of lists and objects are told with their paths', () => {
    const purchase = EVENT_KINDS.find(({ name }) => name === 'purchase');
    const fields = fieldsOf(purchase?.schema ?? {});
    assert.deepEqual(
      fields.map(({ path }) => path),
      ['order_id', 'customer_email', 'total', 'items', 'items[].name', 'items[].qty', 'created_at'],
    );
    assert.ok(fields.find(({ path }) => path === 'order_id')?.isKey);
  });

  it('what is wrong with a URL is said while it is typed', () => {
    assert.equal(mistakeInUrl(''), undefined);
    assert.equal(mistakeInUrl('https://example.com/hooks?x=1'), undefined);
    assert.match(String(mistakeInUrl('example.com')), /not a URL/);
    // Whether plain http is allowed, the service knows.
    assert.equal(mistakeInUrl('http://example.com'), undefined);
    assert.ok(isPlainHttp('http://example.com') && !isPlainHttp('https://example.com') && !isPlainHttp('x'));
    assert.match(String(mistakeInUrl('ftp://example.com')), /https/);
    assert.match(String(mistakeInUrl('https://ada:pw@example.com')), /password/);
    assert.match(String(mistakeInUrl('https://example.com/#part')), /#/);
    assert.ok(isPrivateUrl('https://localhost:3000') && isPrivateUrl('https://10.0.0.1/'));
    assert.ok(!isPrivateUrl('https://example.com'));
  });

  it('a time that an address has is the one that is asked for, in whatever zone it is shown', () => {
    const { TZ } = process.env;
    try {
      for (const zone of ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'UTC']) {
        process.env['TZ'] = zone;
        // Both hours of a night in which clocks are put back, and seconds and less.
        for (const at of [
          '2026-11-01T05:30:00.000Z',
          '2026-11-01T06:30:00.000Z',
          '2026-10-25T01:15:59.123Z',
          '2026-04-04T15:15:01.000Z',
        ])
          assert.equal(fromLocal(toLocal(at), at), at, zone);
      }
      process.env['TZ'] = 'America/New_York';
      assert.equal(toLocal('2026-11-01T06:30:05.123Z'), '2026-11-01T01:30:05');
      assert.equal(fromLocal('2026-11-01T02:30:00', '2026-11-01T06:30:00.000Z'), '2026-11-01T07:30:00.000Z');
      assert.equal(fromLocal('', '2026-11-01T06:30:00.000Z'), undefined);
      assert.equal(fromLocal('x'), undefined);
    } finally {
      if (TZ === undefined) delete process.env['TZ'];
      else process.env['TZ'] = TZ;
    }
  });

  it('names and values are read line by line, and written as they were', () => {
    const values = { 'X-Tenant': 'a:b', Authorization: 'Bearer x' };
    assert.deepEqual(parseNamedValues(formatNamedValues(values)), { values });
    assert.match(String(parseNamedValues('X-Tenant\nA: b').mistake), /X-Tenant/);
    assert.match(String(parseNamedValues(': b').mistake), /: b/);
    assert.deepEqual(parseWaits(' 5s, 5m 2h,'), ['5s', '5m', '2h']);
  });

  it('filters of an address are read, and what is not one is left out', () => {
    assert.deepEqual(
      readDeliveryFilters({ status: ['retrying', 'lost'], key: 'order_id:1', page: 4, event_kind: '' }),
      {
        status: ['retrying'],
        key: 'order_id:1',
      },
    );
    assert.deepEqual(readDeliveryFilters({ status: 'parked' }), { status: ['parked'] });
  });

  it('what is left of the limits is read as the service writes it', () => {
    const limits = [
      { requests: 600, windowMs: 60_000 },
      { requests: 20_000, windowMs: 3_600_000 },
    ];
    const states = limits.map((limit) => ({
      limit,
      remaining: limit.requests - 1,
      resetMs: limit.windowMs - 45_000,
    }));
    const headers = {
      'ratelimit-policy': renderPolicy('token', limits),
      ratelimit: renderState('token', states),
    };
    assert.deepEqual(readRateLimits(new Headers(headers), 45_000), [
      { name: 'token-1m', quota: 600, windowSeconds: 60, left: 599, resetsAt: 60_000 },
      { name: 'token-1h', quota: 20_000, windowSeconds: 3_600, left: 19_999, resetsAt: 3_600_000 },
    ]);
    assert.deepEqual(readRateLimits(new Headers(), 0), []);
    assert.deepEqual(
      readRateLimits(new Headers({ ratelimit: 'nonsense', 'ratelimit-policy': '"a";q=1;w=1' }), 0),
      [],
    );
  });

  it('a stream is cut into whole lines, wherever its chunks end', () => {
    const chunks = fc.array(fc.array(fc.constantFrom(97, 98, 10), { maxLength: 6 }), { maxLength: 8 });
    fc.assert(
      fc.property(chunks, (given) => {
        const cutter = new WholeLines();
        const parts = given.flatMap((bytes) => cutter.take(Uint8Array.from(bytes)) ?? []);
        const text = String.fromCharCode(...given.flat());
        const lines = text.slice(0, text.lastIndexOf('\n') + 1);
        assert.equal(parts.map((part) => new TextDecoder().decode(part)).join(''), lines);
        assert.equal(cutter.isWhole, lines === text);
        assert.equal(
          parts.reduce((sum, part) => sum + countLines(part), 0),
          lines.split('\n').length - 1,
        );
        for (const part of parts) {
          assert.equal(part.at(-1), 10);
          assert.equal(lastLine(part), new TextDecoder().decode(part).split('\n').at(-2));
        }
      }),
    );
  });

  it('a change tells what it made different', () => {
    const change = {
      changed: ['/status', '/headers/a~1b', '/secrets'],
      before: { status: 'active', headers: {} },
      after: { status: 'paused', headers: { 'a/b': '••••••' } },
    };
    assert.deepEqual(differences(change as never), [
      { pointer: '/status', before: 'active', after: 'paused' },
      { pointer: '/headers/a~1b', after: '••••••' },
      { pointer: '/secrets' },
    ]);
  });

  it('the code of each language has the secret once, or something that stands for it', () => {
    for (const { id } of LANGUAGES) {
      assert.equal(snippet(id, 'whsec_own').split('whsec_own').length, 2, id);
      assert.doesNotMatch(snippet(id), /SECRET/, id);
    }
  });
});
