import assert from 'node:assert/strict';
import type { ArchivedEvent } from '../../../src/domain/archive/archived.js';
import { hasSamePayload } from '../../../src/domain/archive/differences.js';
import type { EventToArchive } from '../../../src/domain/archive/to-archive.js';
import { commitTo, newDataKey, saltOf, sealText } from '../../../src/domain/privacy/data-key.js';

const CONTEXT = 'acct_1/evt_1';
const PAYLOAD = '{"order_id":"order-1"}';

describe('the payload of an event in the ledger and in the archive', () => {
  const key = newDataKey();
  const sealedOnce = (payload = PAYLOAD, by = key) => ({
    sealed: sealText(by, CONTEXT, payload),
    commitment: commitTo(saltOf(by, CONTEXT, 'commitment'), payload),
  });
  const held = ({ sealed, commitment } = sealedOnce()) =>
    ({ payload: sealed, sealed: { commitment, bytes: PAYLOAD.length } }) as EventToArchive;
  const archived = (kept = sealedOnce()) => ({ kept }) as ArchivedEvent;

  it('is the same also where it was sealed twice, as after a repeated request', () => {
    const once = sealedOnce();
    assert.ok(hasSamePayload(held(once), archived(once)));
    assert.ok(hasSamePayload(held(), archived()));
  });

  it('is another one if it commits to something else, or another key sealed it', () => {
    assert.ok(!hasSamePayload(held(), archived(sealedOnce('{"order_id":"order-2"}'))));
    assert.ok(!hasSamePayload(held(), archived(sealedOnce(PAYLOAD, newDataKey()))));
    const { commitment } = sealedOnce();
    assert.ok(!hasSamePayload(held(), archived({ ...sealedOnce(PAYLOAD, newDataKey()), commitment })));
  });

  it('is compared as it is where payloads are not encrypted', () => {
    const plain = { payload: PAYLOAD } as EventToArchive;
    assert.ok(hasSamePayload(plain, { payload: PAYLOAD } as ArchivedEvent));
    assert.ok(!hasSamePayload(plain, { payload: '{}' } as ArchivedEvent));
  });
});
