import assert from 'node:assert/strict';
import { createdAt } from '../../../src/domain/basics/id-time.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { LiveGroup } from '../../../src/domain/delivery/delivery-group.js';
import { groupOf, inputOf } from '../../../src/domain/delivery/group-input.js';

const SETTINGS = { version: 1, schedule: [1], attempt_timeout_ms: 1, park_limit_ms: 1 };

describe('the input of an execution', () => {
  const account_id = newId('account');
  const endpoint_id = newId('endpoint');
  const event = (more: object = {}) => {
    const event_id = newId('event');
    return { account_id, event_id, event_kind: 'purchase', accepted_at: createdAt(event_id), ...more };
  };
  const groups: [string, LiveGroup][] = [
    ['a single delivery', { ...SETTINGS, events: [event()], deliveries: [{ event: 0, endpoint_id }] }],
    ['nothing', { ...SETTINGS, events: [], deliveries: [] }],
    [
      'events alike but for their ids',
      {
        ...SETTINGS,
        events: [event(), event(), event()],
        deliveries: [0, 1, 2].map((index) => ({ event: index, endpoint_id })),
      },
    ],
    [
      'an event to many endpoints',
      {
        ...SETTINGS,
        events: [event({ traceparent: '00-1-2-01' })],
        deliveries: [1, 2].map(() => ({ event: 0, endpoint_id: newId('endpoint'), schedule: [1, 2] })),
      },
    ],
    [
      'events and deliveries that differ in what some lack',
      {
        ...SETTINGS,
        events: [
          event({ accepted_at: '2026-01-31T12:00:00.000Z' }),
          event({ account_id: newId('account'), traceparent: '00-1-2-01', tracestate: 'a=b' }),
          event({ traceparent: '00-1-2-01' }),
        ],
        deliveries: [
          { event: 0, endpoint_id, order_key: 'o:1' },
          { event: 1, endpoint_id, schedule: [1] },
          { event: 2, endpoint_id: newId('endpoint'), schedule: [1] },
        ],
      },
    ],
  ];
  for (const [name, group] of groups)
    it(`is made a group of again: ${name}`, () => {
      assert.deepEqual(groupOf(JSON.parse(JSON.stringify(inputOf(group)))), group);
      assert.deepEqual(groupOf(group), group);
    });

  it('has what events and deliveries have alike once', () => {
    const [, , [, group]] = groups as [unknown, unknown, [string, LiveGroup]];
    const { alike, events, deliveries } = inputOf(group);
    assert.deepEqual(alike, { event: { account_id, event_kind: 'purchase' }, delivery: { endpoint_id } });
    assert.deepEqual(Object.keys(events[0] ?? {}), ['event_id']);
    assert.deepEqual(deliveries[2], { event: 2 });
  });
});
