import assert from 'node:assert/strict';
import { type Asker, VisibilityTurns } from '../../../src/domain/ledger/visibility-turns.js';

const person = (account: string, platform = account): Asker => ({ kind: 'person', platform, account });
const machine = (account: string): Asker => ({ kind: 'machine', platform: account, account });

/** The accounts whose turn it is, in order, when all of these calls wait. */
function order(calls: readonly Asker[]): string[] {
  const turns = new VisibilityTurns<{ asker: Asker; began: number }>();
  calls.forEach((asker, began) => {
    turns.add({ asker, began });
  });
  const taken: string[] = [];
  for (let call = turns.next(); call; call = turns.next()) taken.push(call.asker.account);
  return taken;
}

const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);

describe('turns of calls that list or count', () => {
  it('go around between accounts, however much one of them asks', () => {
    assert.deepEqual(order([...times(4, person('a')), person('b'), person('c'), person('b')]), [
      ...['a', 'b', 'c'],
      ...['a', 'b'],
      ...['a', 'a'],
    ]);
  });

  it('are remembered, so that who asks again after each answer gets no more than others', () => {
    const turns = new VisibilityTurns<{ asker: Asker; began: number }>();
    for (const asker of times(3, person('a'))) turns.add({ asker, began: 0 });
    const taken: (string | undefined)[] = [];
    for (let round = 0; round < 3; round += 1) {
      turns.add({ asker: person('b'), began: 1 });
      taken.push(turns.next()?.asker.account, turns.next()?.asker.account);
    }
    assert.deepEqual(taken, ['a', 'b', 'a', 'b', 'a', 'b']);
  });

  it('are a platform’s, which shares them out between its accounts', () => {
    const calls = [...times(3, person('p1', 'p')), ...times(3, person('p2', 'p')), ...times(3, person('a'))];
    assert.deepEqual(order(calls), ['p1', 'a', 'p2', 'a', 'p1', 'a', 'p2', 'p1', 'p2']);
  });

  it('are people’s first, and every fifth is a machine’s', () => {
    assert.deepEqual(order([...times(3, machine('m')), ...times(9, person('a'))]), [
      ...[...times(4, 'a'), 'm'],
      ...[...times(4, 'a'), 'm'],
      ...['a', 'm'],
    ]);
  });

  it('finish what was begun first, and forget what was dropped', () => {
    const turns = new VisibilityTurns<{ asker: Asker; began: number }>();
    const [late, early, gone] = [30, 10, 20].map((began) => ({ asker: person('a'), began }));
    for (const call of [late, early, gone]) if (call) turns.add(call);
    if (gone) turns.drop(gone);
    assert.equal(turns.size, 2);
    assert.deepEqual([turns.next(), turns.next(), turns.next()], [early, late, undefined]);
  });
});
