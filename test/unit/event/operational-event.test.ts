import assert from 'node:assert/strict';
import { emitTo } from '../../../activities/endpoint/endpoint-incident.js';
import { isId } from '../../../src/domain/basics/ids.js';
import type { OperationalEvent } from '../../../src/domain/event/operational-event.js';
import { recordedTime } from '../../../src/domain/time/recorded-time.js';

const EVENT: OperationalEvent = {
  account_id: 'acct_1',
  kind: 'endpoint.failing',
  at: recordedTime('2026-11-28T20:00:00.000Z'),
  transition: 'run_1:endpoint.failing',
  payload: { endpoint_id: 'ep_1' },
};

describe('an operational event', () => {
  /** Emits an event. @returns its id and time as they were accepted */
  async function emit(event: OperationalEvent) {
    const accepted: { event_id: string; accepted_at: string }[] = [];
    const target = { endpoint_id: 'ep_2' };
    await emitTo(
      {
        endpoints: { watchers: async () => [target] },
        ledger: { accept: async (offer) => accepted.push(offer.event) },
      },
      event,
    );
    return accepted.map(({ event_id, accepted_at }) => ({ event_id, accepted_at }));
  }

  it('has the same id and time whenever its activity is tried again', async () => {
    const [first] = await emit(EVENT);
    // The next try reads the event from the history.
    const [again] = await emit(JSON.parse(JSON.stringify(EVENT)));
    assert.ok(isId('event', first?.event_id ?? ''));
    assert.deepEqual(again, first);
  });

  it('has another id for another transition, and for another time', async () => {
    const [first] = await emit(EVENT);
    const [transition] = await emit({ ...EVENT, transition: 'run_2:endpoint.failing' });
    const [time] = await emit({ ...EVENT, at: recordedTime('2026-11-28T20:00:01.000Z') });
    assert.equal(new Set([first, transition, time].map((one) => one?.event_id)).size, 3);
  });

  it('takes no time that only this try has read: it would be another event', async () => {
    const [first] = await emit(EVENT);
    // @ts-expect-error The compiler refuses it.
    const [again] = await emit({ ...EVENT, at: new Date(0).toISOString() });
    assert.notEqual(again?.event_id, first?.event_id);
  });
});
