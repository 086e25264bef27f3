import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { FIRST_OPEN_POSITION, POSITION, positionOf } from '../../../src/domain/records/stored.js';

const DAY = '2026-01-31T';

describe('positions in lists', () => {
  const of = (created: string, closed?: string) => {
    const id = `dlv_${newId('event').slice(4)}_${newId('endpoint').slice(3)}`;
    return positionOf({
      ...{ id, created_at: `${DAY}${created}.000Z` },
      closed_at: closed && `${DAY}${closed}.000Z`,
    });
  };
  /** As a list shows them. */
  const all = [
    of('12:00:02'),
    of('12:00:01'),
    of('11:00:00', '12:00:04'),
    of('12:00:03', '12:00:03'),
    of('12:00:00', '12:00:01'),
  ];

  it('show open deliveries first, of the latest event, and then closed ones, the latest first', () => {
    assert.deepEqual([...all].sort().reverse(), all);
    assert.deepEqual(
      all.map((position) => position >= FIRST_OPEN_POSITION),
      [true, true, false, false, false],
    );
  });

  it('differ also for what was created or closed in the same millisecond', () => {
    assert.notEqual(of('12:00:00'), of('12:00:00'));
    assert.notEqual(of('12:00:00', '12:00:01'), of('12:00:00', '12:00:01'));
  });

  it('have a form that a cursor is checked for', () => {
    for (const position of all) assert.match(position, POSITION);
    for (const other of ['', FIRST_OPEN_POSITION, `${DAY}12:00:00.000Z`, `${all[0]}0`, `~${all[0]}`])
      assert.doesNotMatch(other, POSITION);
  });
});
