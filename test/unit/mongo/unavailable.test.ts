import assert from 'node:assert/strict';
import { mongo } from 'mongoose';
import { isDatabaseUnavailable } from '../../../src/models/mongo/unavailable.js';

describe('an error of MongoDB', () => {
  for (const code of [10_107, 13_435, 13_436, 11_600, 11_602, 189, 91, 50, 64, 100, 371])
    it(`with the code ${code} is over in a while`, () => {
      assert.ok(isDatabaseUnavailable(new mongo.MongoServerError({ message: 'x', code })));
    });

  it('with the label of what may be tried again is over in a while', () => {
    const error = new mongo.MongoServerError({ message: 'x', code: 1, errorLabels: ['RetryableWriteError'] });
    assert.ok(isDatabaseUnavailable(error));
  });

  it('of a batch of writes is what the driver has wrapped in it', () => {
    const wrapped = (error: Error) =>
      new mongo.MongoBulkWriteError(error, {} as unknown as mongo.BulkWriteResult);
    assert.ok(isDatabaseUnavailable(wrapped(new mongo.MongoNetworkTimeoutError('x'))));
    assert.ok(isDatabaseUnavailable(wrapped(new mongo.MongoServerError({ message: 'x', code: 91 }))));
    assert.ok(!isDatabaseUnavailable(wrapped(new mongo.MongoServerError({ message: 'x', code: 11_000 }))));
    assert.ok(!isDatabaseUnavailable(wrapped(new Error('x'))));
  });

  it('about what was asked for is not', () => {
    for (const code of [2, 13, 18, 26, 85, 11_000])
      assert.ok(!isDatabaseUnavailable(new mongo.MongoServerError({ message: 'x', code })), String(code));
    assert.ok(!isDatabaseUnavailable(new Error('x')));
  });
});
