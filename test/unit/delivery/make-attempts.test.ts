import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { createMakeAttempts } from '../../../activities/delivery/make-attempts.js';
import { deliveryId } from '../../../src/domain/basics/delivery-id.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { DeliverySnapshot } from '../../../src/domain/delivery/delivery-state.js';
import type { AttemptOrders } from '../../../src/domain/records/row/attempt-orders.js';
import type { Told } from '../../../src/domain/records/told.js';

const STARTED = '2026-11-28T20:00:00.000Z';

describe('attempts that an execution asks for', () => {
  const key = { event_id: newId('event'), endpoint_id: newId('endpoint') };
  const attempt = { number: 1, at: STARTED, duration_ms: 10, trigger: 'schedule' as const, status_code: 200 };
  const closed: DeliverySnapshot = {
    record: { status: 'delivered', attempts: [attempt] },
    state: { kind: 'closed' },
    failed: 0,
  };
  /** @param lost_tries of the attempt, as the execution knows of them */
  const asked = (turn: number, lost_tries?: number) => {
    const order = {
      event: { ...key, account_id: newId('account'), event_kind: 'purchase' },
      endpoint_id: key.endpoint_id,
      snapshot: {
        record: { status: 'delivering', attempts: [] },
        state: { kind: 'attempting', trigger: 'schedule', endpoint_changed: false },
        failed: 0,
      },
      attempt: { index: 0, number: 1, trigger: 'schedule', ...(lost_tries && { lost_tries }) },
    };
    const run = { workflow_id: 'w', run_id: 'r', started_at: STARTED, is_first: true };
    return {
      run,
      turn,
      seed: 's',
      settings: { schedule: [1], park_limit_ms: 1 },
      orders: [order],
    } as unknown as AttemptOrders;
  };
  const makes = async (request: AttemptOrders) => {
    const told: Told[] = [];
    const rows = {
      keep: async (one: Told) => {
        told.push(one);
        return new Set<string>();
      },
      recorded: async () => new Map([[deliveryId(key), closed]]),
      terminated: async () => {},
    };
    const positions: number[] = [];
    const make = createMakeAttempts({
      rows,
      sealAttempt: async (_: unknown, report: unknown) => report,
    } as never);
    const made = await make(request, {
      lost: 0,
      make: async (_, some) => {
        positions.push(...some);
        return request.orders.map(() => null);
      },
    });
    return { positions, made, told };
  };

  it('take what is recorded of one that another process had begun, and kept late', async () => {
    const { positions, made, told } = await makes(asked(3, 1));
    assert.deepEqual([positions, told], [[], []]);
    assert.deepEqual(made.recorded, [{ index: 0, snapshot: closed }]);
  });

  it('have rows while others are in flight: those that have closed at once, the others if it takes long', async () => {
    const endpoints = [1, 2, 3].map(() => newId('endpoint'));
    const [order] = asked(1).orders;
    const orders = endpoints.map((endpoint_id) => ({ ...order, endpoint_id }));
    const request = { ...asked(5), orders } as AttemptOrders;
    const kept: [number, boolean | undefined, (number | string)[]][] = [];
    const keep = async ({ turn, deliveries }: Told, isNew?: boolean) => {
      const said = deliveries.map(({ endpoint_id, snapshot }) => [
        endpoints.indexOf(endpoint_id),
        snapshot.record.status,
      ]);
      kept.push([turn, isNew, said.flat()]);
      return new Set<string>();
    };
    const delivered = {
      kind: 'attempted',
      attempt: { ...attempt, url: 'https://a.example/' },
      outcome: 'delivered',
    };
    const make = createMakeAttempts({
      rows: { keep, recorded: async () => new Map(), terminated: async () => {} },
      ends: { note: async () => {}, withdraw: async () => {} },
      sealAttempt: async (_: unknown, report: unknown) => report,
    } as never);
    const made = await make(request, {
      lost: 0,
      isNew: true,
      make: async (_, __, showSoFar) => {
        for (const [isLong, ended] of [
          [false, [delivered, null, null]],
          [true, [delivered, null, null]],
          [true, [delivered, delivered, null]],
          [true, [delivered, delivered, null]],
        ] as const) {
          showSoFar(ended as never, Date.parse(STARTED), isLong);
          await setImmediate();
        }
        return [delivered, delivered, delivered] as never;
      },
    });
    assert.deepEqual(kept, [
      [7, true, [0, 'delivered']],
      [5, true, [1, 'delivering', 2, 'delivering']],
      [7, false, [1, 'delivered']],
      [7, false, [2, 'delivered']],
    ]);
    assert.equal(made.kept, true);
  });

  it('tell what was said of them while they are in flight, and after that those that have failed', async () => {
    const said = [{ at: STARTED, type: 'released' as const, text: 'Released.' }];
    const [order] = asked(5).orders;
    const orders = [1, 2].map((index) => ({ ...order, endpoint_id: newId('endpoint'), said, index }));
    const told: unknown[] = [];
    const keep = async ({ turn, deliveries }: Told) => {
      const names = deliveries.map(({ endpoint_id, snapshot, said: entries }) => [
        orders.findIndex((one) => one.endpoint_id === endpoint_id),
        snapshot.record.attempts.length,
        entries?.length,
      ]);
      told.push([turn, ...names]);
      return new Set<string>();
    };
    const make = createMakeAttempts({
      rows: { keep },
      ends: { note: async () => {} },
      sealAttempt: async (_: unknown, report: unknown) => report,
    } as never);
    const failed = { kind: 'attempted', attempt: { ...attempt, status_code: 500 }, outcome: 'failed' };
    const request = { ...asked(5), orders, settings: { schedule: [1, 1], park_limit_ms: 1 } } as never;
    await make(request, {
      lost: 0,
      make: async (_, __, showSoFar) => {
        for (const reports of [
          [null, null],
          [null, null],
          [failed, null],
          [failed, null],
        ]) {
          showSoFar(reports as never, Date.parse(STARTED));
          await setImmediate();
        }
        return [failed, null] as never;
      },
    });
    assert.deepEqual(told, [
      [5, [0, 0, 1], [1, 0, 1]],
      [6, [0, 1, 1]],
      [7, [0, 1, 1], [1, 0, 1]],
    ]);
  });

  it('ask for no records if nobody can have made them', async () => {
    assert.deepEqual((await makes(asked(1))).positions, [0]);
  });
});
