import assert from 'node:assert/strict';
import { idTime } from '../../../src/domain/basics/id-time.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { Unstarted } from '../../../src/temporal/write/accept/unstarted.js';

describe('what a process says of its events that are not started', () => {
  const at = 1_000_000;
  const later = at + 5_000;
  let unstarted: Unstarted;
  let id: string;
  beforeEach(() => {
    unstarted = new Unstarted();
    id = newId('event', at);
  });

  it('covers an event from when it is named to when it is started', () => {
    assert.equal(unstarted.since(later), later);
    unstarted.offer(id);
    assert.equal(unstarted.since(later), idTime(id), 'it waits for its insert');
    unstarted.add(id, { deliveries: 1, bytes: 10 });
    assert.equal(unstarted.since(later), idTime(id));
    unstarted.remove(id);
    assert.equal(unstarted.since(later), later);
  });

  it('does not cover an event that was refused', () => {
    unstarted.offer(id);
    unstarted.remove(id);
    assert.equal(unstarted.since(later), later);
  });

  it('covers an event that may be stored until it has been looked for after its time, however late that is', () => {
    const asked_at = performance.now();
    unstarted.doubt(id, 1_000);
    assert.deepEqual(unstarted.doubted(), [id]);
    unstarted.notStored(id, asked_at);
    assert.equal(unstarted.since(later), idTime(id), 'the insert may still be under way');
    unstarted.notStored(id, asked_at + 3_600_000);
    assert.deepEqual(unstarted.doubted(), []);
    assert.equal(unstarted.since(later), later);
  });
});
