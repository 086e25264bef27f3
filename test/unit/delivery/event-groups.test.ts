import assert from 'node:assert/strict';
import { ServiceError } from '@temporalio/client';
import { newId } from '../../../src/domain/basics/ids.js';
import type { PendingDelivery } from '../../../src/temporal/write/admission.js';
import { EventGroups } from '../../../src/temporal/write/event-groups.js';

const EVENT = {
  account_id: newId('account'),
  event_id: newId('event'),
  event_kind: 'purchase',
  payload: '{}',
  accepted_at: new Date().toISOString(),
};

describe("groups of an event's deliveries", () => {
  /** Groups on a server that refuses those of more deliveries than `limit`, or every one with another gRPC code. */
  function groupsOn(limit: number, code = 3) {
    const started = new Map<string, string[]>();
    const refused: number[] = [];
    const startGroup = async (pending: readonly PendingDelivery[], id = ''): Promise<void> => {
      if (pending.length > limit) {
        refused.push(pending.length);
        const cause = Object.assign(new Error('refused'), { code, details: 'refused', metadata: {} });
        throw new ServiceError('Failed to start Workflow', { cause });
      }
      const targets = pending.map(({ target }) => target.endpoint_id);
      started.set(id.replace(`${EVENT.event_id}:`, ''), [targets[0], targets.at(-1)] as string[]);
    };
    return { started, refused, groups: new EventGroups(startGroup) };
  }
  const deliveries = (count: number): PendingDelivery[] =>
    Array.from({ length: count }, (_, index) => ({
      event: EVENT,
      target: { endpoint_id: `ep_${index}` },
      head: index === 0,
      placement: { isolated: false },
    }));

  it('have up to 120 deliveries, and are named after the event and the part', async () => {
    const { started, groups } = groupsOn(120);
    await groups.start(deliveries(250), 300);
    assert.deepEqual(
      [...started],
      [
        ['300+120', ['ep_0', 'ep_119']],
        ['420+120', ['ep_120', 'ep_239']],
        ['540', ['ep_240', 'ep_249']],
      ],
    );
  });

  it('have up to 60 where Temporal takes no longer search attributes, which it is asked once', async () => {
    const { started, refused, groups } = groupsOn(60);
    await groups.start(deliveries(100), 0);
    await groups.start(deliveries(100), 100);
    assert.deepEqual(
      [...started],
      [
        ['0', ['ep_0', 'ep_59']],
        ['60', ['ep_60', 'ep_99']],
        ['100', ['ep_0', 'ep_59']],
        ['160', ['ep_60', 'ep_99']],
      ],
    );
    assert.deepEqual(refused, [100]);
    assert.equal(groups.size, 60);
  });

  it('stay large, and fail, if Temporal cannot be reached', async () => {
    const { refused, groups } = groupsOn(0, 14);
    await assert.rejects(groups.start(deliveries(100), 0), ServiceError);
    assert.deepEqual([refused, groups.size], [[100], 120]);
  });

  it('fail if Temporal refuses small ones, too', async () => {
    const { refused, groups } = groupsOn(0);
    await assert.rejects(groups.start(deliveries(100), 0), ServiceError);
    assert.deepEqual(refused.slice(0, 2), [100, 60]);
  });
});
