import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import type { KeptEvent } from '../../../src/domain/delivery/stored-event.js';
import { createPayloadSealer } from '../../../src/domain/privacy/payload-sealer.js';
import {
  EventIntake,
  type Offer,
  type StartPlanner,
} from '../../../src/temporal/write/accept/event-intake.js';
import { MemoryKeys } from '../../support/parts/memory-keys.js';

/** Steps before a producer is answered, in this order. */
const STEPS = ['insert', 'place', 'feed'] as const;
type Step = (typeof STEPS)[number];

function offer(event_id: string): Offer {
  const accepted = { account_id: 'acct_1', event_kind: 'purchase', payload: '{}' };
  return {
    event: { ...accepted, event_id, accepted_at: '2026-01-31T12:00:00.000Z' },
    targets: [{ endpoint_id: 'ep_1', order_key: 'order-1' }],
  };
}

/** An intake whose steps begin, and end when they are told to. */
function intake() {
  const begun: Step[] = [];
  const held = new Map<Step, () => void>();
  const starts: string[] = [];
  const hold = async <T>(step: Step, result: T): Promise<T> => {
    begun.push(step);
    await new Promise<void>((resolve) => held.set(step, resolve));
    return result;
  };
  const insert = (events: readonly unknown[]) =>
    hold(
      'insert',
      events.map((): KeptEvent | undefined => undefined),
    );
  const planner = {
    id: 'starter',
    isBehind: false,
    feedOrder: { begin: () => {}, end: () => {}, stored: () => hold('feed', undefined) },
    offered: async () => {},
    withdrawn: () => {},
    checkRoom: () => {},
    plan: ({ event_id }: { event_id: string }, targets: unknown) => ({
      targets,
      carriers: [],
      stored: async () => void starts.push(event_id),
      dropped: () => {},
      unsure: () => {},
    }),
  } as unknown as StartPlanner;
  const store = { insert, insertTogether: insert } as never;
  const places = { take: () => hold('place', new Map()) };
  const sealer = createPayloadSealer(new MemoryKeys(), true);
  const events = new EventIntake(planner, { sealer, store, remember: () => {}, places });
  return { events, begun, starts, end: (step: Step) => held.get(step)?.() };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

const EVENT = newId('event');

describe('an event', () => {
  for (const [how, accept] of Object.entries({
    'by itself': (events: EventIntake) => events.accept(offer(EVENT)),
    'in a batch': (events: EventIntake) => events.acceptTogether([offer(EVENT)]),
  }))
    it(`${how} is answered when it is stored and has its places, and started no sooner`, async () => {
      const { events, begun, starts, end } = intake();
      let isAnswered = false;
      const answered = accept(events).then(() => (isAnswered = true));
      for (const step of STEPS) {
        await settle();
        assert.equal(isAnswered, false, `before ${step}`);
        assert.ok(begun.includes(step), step);
        if (step === 'insert') assert.deepEqual(begun, ['insert']);
        assert.deepEqual(starts, step === 'feed' ? [EVENT] : [], `before ${step}`);
        end(step);
      }
      await answered;
      assert.deepEqual(starts, [EVENT]);
    });
});
