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

  it('is not later than a time that came in response to a question, however late that is heard of', () => {
    assert.equal(clock.latest(), wall);
    const askedAt = passed;
    passed += 800;
    clock.read(NOON, askedAt);
    assert.deepEqual([clock.now(), clock.latest()], [NOON, NOON + 801]);
    passed += 10_000;
    // The server had that time some moment after it was asked.
    clock.read(NOON + 10_300, passed - 1_000);
    assert.deepEqual([clock.now(), clock.latest()], [NOON + 10_300, NOON + 10_801]);
    clock.read(NOON + 10_300, passed - 10);
    assert.deepEqual([clock.now(), clock.latest()], [NOON + 10_300, NOON + 10_311]);
  });

  it('is at most a second later than what is known, also if it was set back, and not earlier', () => {
    clock.read(NOON, passed);
    passed += 100_000;
    for (const _ of [1, 2, 3]) {
      clock.read(NOON - 3_600_000);
      passed += 70_000;
    }
    assert.equal(clock.latest() - clock.now(), 1_000);
    clock.read(NOON + 3_600_000);
    assert.equal(clock.latest(), clock.now());
  });

  it('is known anew by a question an hour later, however long that one takes', () => {
    clock.read(NOON, passed);
    passed += 3_600_400;
    clock.read(NOON + 3_600_400, passed - 300);
    assert.equal(clock.latest(), NOON + 3_600_400 + 301);
  });
});
