import assert from 'node:assert/strict';
import { bodyAgain, sentIn } from '../../../src/domain/sending/sent-form.js';

const EVENT = { account_id: 'acct_1', event_id: 'evt_01KFFHQ7WGS2Y47QBBGSV7HTCR' };
const FORM = { event_kind: 'profile.updated', url: 'https://hooks.example.com/v18.0/events/evt_1' };
const PAYLOAD = '{"profile_id":"prof_1","changed_fields":["name"],"changes":{"name":{"old":1,"new":2}}}';

describe('the body that was sent', () => {
  it('is made again with the values that went along, and without those that did not', () => {
    assert.equal(bodyAgain({ ...FORM, include_values: true }, EVENT, PAYLOAD), PAYLOAD);
    const without = JSON.stringify({ profile_id: 'prof_1', changed_fields: ['name'] });
    assert.equal(bodyAgain(FORM, EVENT, PAYLOAD), without);
  });

  it('is gone with the payload, but for a thin event, which had none of it', () => {
    for (const payload_format of ['event', 'cloudevents_structured', 'cloudevents_binary'] as const)
      assert.equal(bodyAgain({ ...FORM, payload_format }, EVENT, undefined), undefined, payload_format);
    const thin = { ...FORM, payload_format: 'thin' } as const;
    assert.equal(bodyAgain(thin, EVENT, undefined), sentIn(thin, { ...EVENT, payload: PAYLOAD }).body);
  });
});
