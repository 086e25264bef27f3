import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EVERYTHING } from '../../../src/api/routes/feed/wanted.js';
import { idTime } from '../../../src/domain/basics/id-time.js';
import { newId } from '../../../src/domain/basics/ids.js';
import { type FeedEvent, positionOf } from '../../../src/domain/feed/feed.js';
import { FeedReader } from '../../../src/models/feed/feed-reader.js';
import { FeedOrder } from '../../../src/temporal/write/accept/feed-order.js';

const ACCOUNT = 'acct_1';

/** Storage that a process reaches as long as it is not frozen: what it asks for then arrives later. */
class World {
  now = 1_800_000_000_000;
  readonly events = new Map<string, FeedEvent>();
  readonly late = new Map<string, string>();
  readonly starters = new Map<string, { settled: number; life: string }>();
  until = 0;
  lives = 0;
  readonly frozen = new Map<string, (() => void)[]>();

  /** Does something in the name of a process once its request arrives. */
  async ask<T>(process: string, act: () => T): Promise<T> {
    await this.untilThawed(process);
    const answer = act();
    await this.untilThawed(process);
    return answer;
  }

  private async untilThawed(process: string): Promise<void> {
    const held = this.frozen.get(process);
    if (held) await new Promise<void>((resolve) => held.push(resolve));
    for (let turn = 0; turn < 4; turn += 1) await null;
  }

  thaw(process: string): void {
    const held = this.frozen.get(process) ?? [];
    this.frozen.delete(process);
    for (const go of held) go();
  }

  reader(process: string): FeedReader {
    const heads = (ids: string[], limit: number) =>
      ids
        .filter((id) => this.events.has(id))
        .sort()
        .slice(0, limit)
        .map((id) => ({ id, kind: 'x', payload_bytes: 1, is_test: false, is_addressed: false }));
    const records = {
      eventHeads: async (
        _: string,
        which: readonly string[] | { after: string; before: string },
        limit: number,
      ) =>
        heads(
          Array.isArray(which)
            ? [...which]
            : [...this.events.keys()].filter((id) => {
                const { after, before } = which as { after: string; before: string };
                return positionOf(id) > after && positionOf(id) < before;
              }),
          limit,
        ),
      eventsOf: async (_: string, ids: readonly string[]) =>
        new Map(ids.map((id) => [id, { event: { id, payload: '{}' } }])),
    };
    const feed = {
      announce: (until: number) =>
        this.ask(process, () => {
          this.until = Math.max(this.until, until);
          return false;
        }),
      between: async (_: string, { after, before }: { after: string; before: string }, limit: number) =>
        [...this.late]
          .map(([id, position]) => ({ id, position }))
          .filter(({ position }) => position > after && position < before)
          .sort((a, b) => (a.position < b.position ? -1 : 1))
          .slice(0, limit),
      lateOf: async (ids: readonly string[]) =>
        new Map(ids.flatMap((id) => (this.late.has(id) ? [[id, this.late.get(id) ?? '']] : []))),
    };
    const starters = { all: async () => [...this.starters].map(([id, one]) => ({ id, ...one })) };
    return new FeedReader(records as never, feed as never, starters as never);
  }

  order(process: string, clock: () => number): FeedOrder {
    const places = {
      readUntil: () => this.ask(process, () => this.until),
      place: (late: readonly { event: FeedEvent; position: string }[]) =>
        this.ask(process, () => {
          for (const { event, position } of late) {
            const there = this.late.get(event.event_id) ?? '';
            this.late.set(event.event_id, position > there ? position : there);
          }
        }),
    };
    const say = (settled: number) =>
      this.ask(process, () => {
        this.lives += 1;
        const life = this.starters.get(process)?.life ?? `life ${this.lives}`;
        this.starters.set(process, { settled, life });
        return life;
      });
    // The test beats itself, so a heartbeat is never overdue.
    return new FeedOrder(places, say, Number.MAX_SAFE_INTEGER, clock);
  }
}

const PROCESSES = ['a', 'b', 'c'];
const READER = 3;
type Step = [what: string, process: number, by: number];
const steps = fc.array(
  fc.tuple(
    fc.constantFrom('name', 'store', 'beat', 'freeze', 'thaw', 'forget', 'read', 'pass', 'turn'),
    fc.integer({ min: 0, max: READER }),
    fc.integer({ min: -2_000, max: 60_000 }),
  ) as fc.Arbitrary<Step>,
  { maxLength: 120 },
);

/** A process stands still after it has named an event, or stored it, and the others go on without it. */
const LEFT_BEHIND: Step[] = [
  ['freeze', 0, 0],
  ['forget', 0, 0],
  ['pass', 0, 4_000],
  ['beat', 1, 0],
  ['beat', 2, 0],
  ['read', 0, 0],
  ['thaw', 0, 0],
];
const BEGINNING: Step[] = [
  ['beat', 0, 0],
  ['beat', 1, 0],
  ['beat', 2, 0],
  ['name', 0, 0],
];
const FORGOTTEN: Step[] = [...BEGINNING, ...LEFT_BEHIND, ['beat', 0, 0], ['store', 0, 0]];
const FORGOTTEN_AFTER: Step[] = [...BEGINNING, ...LEFT_BEHIND, ['store', 0, 0], ['beat', 0, 0]];

/** All beat and somebody reads while a process stores an event. */
const SLOW: Step[] = [
  ...BEGINNING,
  ['pass', 0, 4_000],
  ['beat', 0, 0],
  ['beat', 1, 0],
  ['beat', 2, 0],
  ['read', 0, 0],
  ['store', 0, 0],
];

/** A process with a clock behind that of others begins while a reader says how far it goes. */
const JOINED: Step[] = [
  ['turn', 0, -2_000],
  ['beat', 1, 0],
  ['beat', 2, 0],
  ['freeze', READER, 0],
  ['read', 0, 0],
  ['beat', 0, 0],
  ['name', 0, 0],
  ['thaw', READER, 0],
  ['store', 0, 0],
];

const settle = async () => {
  for (let turn = 0; turn < 80; turn += 1) await null;
};

describe('the order of the feed', () => {
  it('passes over no event, whoever stands still between naming and storing one, or is taken for dead, or has another clock', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const world = new World();
        const ahead = PROCESSES.map(() => 0);
        const orders = PROCESSES.map((name, index) =>
          world.order(name, () => world.now + (ahead[index] ?? 0)),
        );
        const named = PROCESSES.map((): string[] => []);
        const accepted: string[] = [];
        const storing: Promise<unknown>[] = [];
        const seen = new Set<string>();
        let after = '';
        const reader = world.reader('reader');
        let reading: Promise<void> = Promise.resolve();
        const read = async () => {
          for (;;) {
            const page = await reader.page(ACCOUNT, after, 3, EVERYTHING);
            for (const { event, position } of page.entries) {
              assert.ok(position > after, 'in order');
              after = position;
              seen.add(event.id);
            }
            assert.ok(page.after >= after);
            after = page.after;
            if (page.isEnd) return;
          }
        };
        const store = (index: number) => {
          const id = named[index]?.shift();
          const order = orders[index];
          if (id === undefined || !order) return;
          const event = { account_id: ACCOUNT, event_id: id, event_kind: 'x', accepted_at: '' };
          const name = PROCESSES[index] ?? '';
          storing.push(
            world
              .ask(name, () => world.events.set(id, event))
              .then(() => order.stored(event))
              .then(() => accepted.push(id)),
          );
        };
        for (const [what, index, by] of all) {
          const name = PROCESSES[index] ?? 'reader';
          const order = orders[index];
          // A process that stands still does nothing.
          const isFrozen = world.frozen.has(name);
          if (what === 'name' && order && !isFrozen) {
            const id = newId('event', world.now + (ahead[index] ?? 0) + Math.min(by, 0));
            order.begin(id);
            named[index]?.push(id);
          }
          if (what === 'store') store(index);
          if (what === 'beat' && !isFrozen) storing.push(order?.beat() ?? Promise.resolve());
          if (what === 'freeze' && !isFrozen) world.frozen.set(name, []);
          if (what === 'thaw') world.thaw(name);
          // Only a process that stands still is taken for dead.
          if (what === 'forget' && isFrozen) world.starters.delete(name);
          if (what === 'pass') world.now += Math.abs(by) % 5_000;
          if (what === 'turn') ahead[index] = by;
          if (what === 'read') reading = reading.then(read);
          // What one does and what another does overlap.
          if (by % 2 === 0) await settle();
          else for (let turn = 0; turn < Math.abs(by) % 12; turn += 1) await null;
        }
        for (const name of [...PROCESSES, 'reader']) world.thaw(name);
        await reading;
        for (const [index] of PROCESSES.entries()) while (named[index]?.length) store(index);
        // Whoever has named an event beats until it is stored.
        for (let turn = 0; turn < 3; turn += 1) {
          await Promise.all(orders.map((order) => order.beat()));
          await settle();
        }
        await Promise.all(storing);
        world.now += 120_000;
        for (let turn = 0; turn < 2; turn += 1) await Promise.all(orders.map((order) => order.beat()));
        await read();
        assert.deepEqual(
          [...world.events.keys()].filter((id) => !seen.has(id)),
          [],
        );
        assert.equal(accepted.length, world.events.size);
      }),
      { numRuns: 300, examples: [[SLOW], [FORGOTTEN], [FORGOTTEN_AFTER], [JOINED]] },
    );
  });

  it('is not read at all where no process has said how far', async () => {
    const world = new World();
    const id = newId('event', world.now);
    world.events.set(id, { account_id: ACCOUNT, event_id: id, event_kind: 'x', accepted_at: '' });
    const { entries, isEnd } = await world.reader('reader').page(ACCOUNT, '', 10, EVERYTHING);
    assert.deepEqual([entries, isEnd], [[], true]);
  });

  it('has every event of an account that has more than are looked at together', async () => {
    const world = new World();
    const ids = Array.from({ length: 450 }, (_, index) => newId('event', world.now + index));
    for (const id of ids)
      world.events.set(id, { account_id: ACCOUNT, event_id: id, event_kind: 'x', accepted_at: '' });
    world.now += 1_000;
    await world.order('a', () => world.now).beat();
    const { entries, isEnd } = await world.reader('reader').page(ACCOUNT, '', 1_000, EVERYTHING);
    assert.deepEqual([entries.map(({ event }) => event.id), isEnd], [ids, true]);
  });

  it('tells what is stored late behind what was read, once', async () => {
    const world = new World();
    const order = world.order('a', () => world.now);
    await order.beat();
    const id = newId('event', world.now - 60_000);
    order.begin(id);
    const event = { account_id: ACCOUNT, event_id: id, event_kind: 'x', accepted_at: '' };
    world.events.set(id, event);
    await order.stored(event);
    assert.ok(idTime(world.late.get(id) ?? '') >= world.now);
    world.now += 1;
    await order.beat();
    const { entries } = await world.reader('reader').page(ACCOUNT, '', 10, EVERYTHING);
    assert.deepEqual(
      entries.map(({ event, position }) => [event.id, position]),
      [[id, world.late.get(id)]],
    );
  });
});
