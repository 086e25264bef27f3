import assert from 'node:assert/strict';
import { TimeoutError } from '../../../src/domain/basics/with-timeout.js';

describe('a module, in a process of tests', () => {
  it('is loaded once, by whoever imports it', async () => {
    // As `mochaHooks` and parts of the service do.
    const later = await import('../../../src/domain/basics/with-timeout.js');
    assert.equal(later.TimeoutError, TimeoutError);
  });
});
