import assert from 'node:assert/strict';
import {
  closedAt,
  POSITION,
  positionAt,
  positionBefore,
  positionBehind,
} from '../../../src/domain/archive/archived.js';
import { MAX_EVENT_GROUP_SIZE } from '../../../src/domain/delivery/delivery.js';

const AT = new Date('2026-01-31T12:00:00.000Z');
const RUN = '00000000-0000-0000-0000-000000000001';
const NEXT_RUN = '00000000-0000-0000-0000-000000000002';

describe('positions in lists', () => {
  const members = Array.from({ length: MAX_EVENT_GROUP_SIZE }, (_, index) => positionAt(AT, RUN, index));

  it('of the members of the largest group go down, with room for a limit before each', () => {
    const limits = members.map((_, index) => positionBefore(AT, RUN, index));
    const expected = members.flatMap((position, index) => [limits[index], position]);
    assert.deepEqual([...members, ...limits].sort().reverse(), expected);
  });

  it('behind a group are below all its members, and above those of the next execution', () => {
    const behind = positionBehind(AT, NEXT_RUN);
    for (const index of members.keys()) assert.ok(behind < positionAt(AT, NEXT_RUN, index));
    assert.ok(members.every((position) => position < behind));
  });

  it('have a form that a cursor is checked for, and name a time', () => {
    for (const position of [...members, positionBefore(AT, RUN, 119), positionBehind(AT, RUN)]) {
      assert.match(position, POSITION);
      assert.deepEqual(closedAt(position), AT);
    }
    for (const other of ['', `${AT.toISOString()} ${RUN}`, `${members[0]}0`])
      assert.doesNotMatch(other, POSITION);
  });
});
