import assert from 'node:assert/strict';
import mongoose, { type Connection } from 'mongoose';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { OrderPlaceRepository } from '../../../src/models/order/order-places.js';
import { type SharedSystem, sharedSystem } from '../../support/system.js';

describe('places in an order', () => {
  let system: SharedSystem;
  let connection: Connection;

  before(async () => {
    system = await sharedSystem();
    connection = await mongoose.createConnection(system.environment['MONGODB_URI'] ?? '').asPromise();
  });
  after(() => connection.close());

  const some = (count: number, endpoint_id: string, order_key = 'o:a') =>
    Array.from({ length: count }, () => ({ event_id: newId('event'), endpoint_id, order_key }));

  it('are one after the other, each taken once, whichever processes take them at the same time', async () => {
    const endpoint = newId('endpoint');
    const processes = Array.from({ length: 3 }, () => new OrderPlaceRepository(connection));
    const all = some(45, endpoint);
    // Each delivery is taken by two processes, such as by one that dies and by another that goes on in its place.
    const parts = [all.slice(0, 30), all.slice(15), [...all.slice(30), ...all.slice(0, 15)]];
    const taken = await Promise.all(parts.map((part, index) => processes[index]?.take(part)));
    const numbers = new Map<string, number>();
    for (const places of taken)
      for (const [id, { number, stream }] of places ?? []) {
        assert.equal(stream, `${endpoint} o:a`);
        assert.equal(numbers.get(id) ?? number, number);
        numbers.set(id, number);
      }
    assert.equal(numbers.size, 45);
    assert.deepEqual(
      [...numbers.values()].sort((one, other) => one - other),
      Array.from({ length: 45 }, (_, index) => index + 1),
    );
  });

  it('begin at 1 for each key of each endpoint, and go on after a process that did not say how far it was', async () => {
    const places = new OrderPlaceRepository(connection);
    const endpoint = newId('endpoint');
    const [one, other] = [some(1, endpoint)[0], some(1, endpoint, 'o:b')[0]];
    assert.ok(one && other);
    const taken = await places.take([one, other]);
    assert.deepEqual(
      [...taken.values()].map(({ number }) => number),
      [1, 1],
    );
    await connection.collection('order_streams').deleteOne({ _id: `${endpoint} o:a` as never });
    const [next] = some(1, endpoint);
    assert.ok(next);
    assert.equal((await places.take([next])).get(deliveryId(next))?.number, 2);
    assert.equal((await places.take([next])).get(deliveryId(next))?.number, 2);
    assert.equal((await places.find(one))?.number, 1);
    const between = await places.between(`${endpoint} o:a`, 1, 20);
    assert.deepEqual([...between.keys()], [1, 2]);
    assert.equal(between.get(1)?.status, undefined);
  });
});
