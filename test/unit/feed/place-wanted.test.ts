import assert from 'node:assert/strict';
import { placeParameters, placeWanted } from '../../../src/api/routes/feed/place-wanted.js';
import { wantedBy } from '../../../src/api/routes/feed/wanted.js';
import { Problem } from '../../../src/domain/http/problem.js';

const TOKEN = 'o:pX3n0bVv2l7Yc1dK';

describe('a place in an order that the feed begins at', () => {
  it('is named by endpoint, number and key, without a key where the endpoint has one order', () => {
    const query = { endpoint: 'ep_1', order: 42 };
    assert.deepEqual(placeWanted({ ...query, order_key: TOKEN }), { stream: `ep_1 ${TOKEN}`, number: 42 });
    assert.deepEqual(placeWanted(query), { stream: 'ep_1 *', number: 42 });
    assert.equal(placeWanted({ endpoint: 'ep_1', after: '01', from: new Date(), sequence: 3 }), undefined);
  });

  it('is refused if it is named in part, or with another beginning', () => {
    const refused = (query: Parameters<typeof placeWanted>[0], parameter: string) =>
      assert.throws(
        () => placeWanted(query),
        (error) =>
          error instanceof Problem && error.status === 400 && error.message.includes(` ${parameter} `),
      );
    refused({ order: 42 }, 'endpoint');
    refused({ endpoint: 'ep_1', order_key: TOKEN }, 'order');
    for (const name of ['after', 'consumer', 'from', 'sequence'])
      refused({ endpoint: 'ep_1', order: 42, [name]: 'x' }, name);
  });

  it('has a key of the one form that tokens have, and a number above 0', () => {
    const { order, order_key } = placeParameters;
    assert.ok(order_key.safeParse(TOKEN).success && order.safeParse('42').success);
    for (const text of ['*', 'order-1', `${TOKEN}x`, `${TOKEN}\n`, `"${TOKEN}"`, 'o:pX3n0bVv2l7Y 1dK'])
      assert.ok(!order_key.safeParse(text).success, text);
    for (const text of ['0', '-1', '1.5', '', 'x', '1e400']) assert.ok(!order.safeParse(text).success, text);
  });

  it('has its event in the feed of the endpoint, whatever that is registered for now', () => {
    const filter = { path: '/total', at_least: 100 };
    const wanted = wantedBy({ id: 'ep_1', event_kinds: ['purchase'], filter }, 'evt_1');
    const seen = (id: string, kind: string, payload?: string) =>
      wanted.mayMatch({ id, kind }) && wanted.matches({ id, payload });
    assert.ok(seen('evt_1', 'order.paid', '{"total":1}') && seen('evt_1', 'purchase'));
    assert.ok(seen('evt_2', 'purchase', '{"total":100}'));
    assert.ok(!seen('evt_2', 'order.paid', '{"total":100}') && !seen('evt_2', 'purchase', '{"total":1}'));
  });
});
