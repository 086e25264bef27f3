import assert from 'node:assert/strict';
import { withIdempotency } from '../../../src/api/routes/events/with-idempotency.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { Problem } from '../../../src/domain/http/problem.js';
import type { IdempotencyRecord, IdempotencyRepository } from '../../../src/models/event/idempotency.js';
import { LedgerBusyError } from '../../../src/temporal/errors.js';
import { sharedSystem } from '../../support/system.js';

/** Of a claim that is not waited for any more. */
const LONG_AGO = new Date(Date.now() - 60_000).toISOString();

describe('a claim of an idempotency key', () => {
  let claims: IdempotencyRepository;
  before(async () => {
    claims = (await sharedSystem()).database.idempotency;
  });

  const newKey = () => [newId('account'), 'order-1'] as const;
  const record = (more: Partial<IdempotencyRecord> = {}): IdempotencyRecord => ({
    body_hash: 'a',
    event_id: newId('event'),
    targets: [],
    accepted_at: LONG_AGO,
    sequence: 1,
    groups: { series: newId('group'), first: 1, last: 2 },
    ...more,
  });
  const never = () => assert.fail();

  it('remembers the groups that its deliveries can be in', async () => {
    const key = newKey();
    const first = record();
    await claims.claim(...key, first);
    const repeated = await claims.claim(...key, record());
    assert.equal(repeated.state, 'pending');
    assert.deepEqual(repeated.record.groups, first.groups);
    assert.equal(repeated.record.event_id, first.event_id);
    const alone = newKey();
    await claims.claim(...alone, record({ groups: undefined }));
    assert.equal((await claims.claim(...alone, record())).record.groups, undefined);
  });

  it('that is known to have started nothing makes room for another, of the same body', async () => {
    const key = newKey();
    const busy = withIdempotency(claims, key, record(), {
      first: () => Promise.reject(new LedgerBusyError('Too many wait.')),
      again: never,
    });
    await assert.rejects(busy, LedgerBusyError);
    await assert.rejects(
      withIdempotency(claims, key, record({ body_hash: 'b' }), { first: never, again: never }),
      ({ code }: Problem) => code === 'idempotency_conflict',
    );
    const fresh = record();
    const started: string[] = [];
    const starts = {
      first: async ({ event_id }: IdempotencyRecord) => void started.push(event_id),
      again: never,
    };
    assert.equal((await withIdempotency(claims, key, fresh, starts)).event_id, fresh.event_id);
    assert.equal((await withIdempotency(claims, key, record(), starts)).event_id, fresh.event_id);
    assert.deepEqual(started, [fresh.event_id]);
    assert.deepEqual((await claims.claim(...key, record())).record.groups, fresh.groups);
  });

  it('that another request starts, too, cannot be refused any more', async () => {
    const key = newKey();
    const first = record();
    await claims.claim(...key, first);
    let isRefused = false;
    const answer = await withIdempotency(claims, key, record(), {
      first: never,
      async again({ event_id }) {
        await claims.refuse(...key, event_id);
        isRefused = true;
      },
    });
    assert.ok(isRefused);
    assert.equal(answer.event_id, first.event_id);
    assert.equal((await claims.claim(...key, record())).state, 'confirmed');
  });

  it('is renewed by one of two requests at once', async () => {
    const key = newKey();
    const first = record();
    await claims.claim(...key, first);
    await claims.refuse(...key, first.event_id);
    const both = await Promise.all([claims.claim(...key, record()), claims.claim(...key, record())]);
    assert.deepEqual(both.map(({ state }) => state).sort(), ['new', 'pending']);
    assert.equal(new Set(both.map(({ record: { event_id } }) => event_id)).size, 1);
  });
});
