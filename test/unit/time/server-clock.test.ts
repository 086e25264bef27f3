import assert from 'node:assert/strict';
import { ServerClock } from '../../../src/domain/time/server-clock.js';

const NOON = Date.parse('2026-01-31T12:00:00Z');

describe("a server's clock, as a process knows it", () => {
  let passed: number;
  let wall: number;
  let clock: ServerClock;

  beforeEach(() => {
    passed = 5_000;
    wall = NOON - 3_600_000;
    clock = new ServerClock(
      () => passed,
      () => wall,
    );
  });

  it("is this machine's until the server has told its time, and when nobody asks it any more", () => {
    assert.deepEqual([clock.now(), clock.difference, clock.isKnown], [wall, undefined, false]);
    clock.read(NOON);
    assert.equal(clock.now(), NOON);
    clock.forget();
    assert.deepEqual([clock.now(), clock.difference], [wall, undefined]);
  });

  it("goes on by what passes, whatever this machine's clock is set to", () => {
    clock.read(NOON);
    assert.equal(clock.difference, -3_600_000);
    passed += 700;
    wall += 7_200_000;
    assert.equal(clock.now(), NOON + 700);
    assert.equal(clock.difference, 3_600_000 - 700);
  });

  it('is by the reading that was on its way for the shortest time, and never ahead', () => {
    for (const [after, late] of [
      [0, 800],
      [1_000, 3],
      [2_000, 500],
    ] as const) {
      passed = 5_000 + after + late;
      clock.read(NOON + after);
    }
    assert.equal(clock.now(), NOON + passed - 5_000 - 3);
  });

  it('follows a server whose clock is set ahead at once, and one whose clock is set back within a minute', () => {
    clock.read(NOON);
    passed += 1_000;
    clock.read(NOON + 3_600_000);
    assert.equal(clock.now(), NOON + 3_600_000);
    const back = passed;
    for (; passed < back + 70_000; passed += 1_000) clock.read(NOON + passed - back);
    assert.equal(clock.now(), NOON + passed - back);
  });

  it('stands still, and does not go back, when the best of its readings is too old to count', () => {
    clock.read(NOON);
    let latest = clock.now();
    for (const end = passed + 80_000; passed < end; passed += 1) {
      if (passed % 1_000 === 0) clock.read(NOON + passed - 5_000 - 8);
      const now = clock.now();
      assert.ok(now >= latest, `${now} after ${latest}`);
      latest = now;
    }
    assert.equal(clock.now(), NOON + passed - 5_000 - 8);
  });

  it('is known for as long as there is no later reading', () => {
    clock.read(NOON);
    passed += 86_400_000;
    assert.equal(clock.now(), NOON + 86_400_000);
  });
});
