import assert from 'node:assert/strict';
import { inFormat } from '../../../src/domain/sending/payload-format.js';

const EVENT = {
  account_id: 'acct_01M7Y2TZZ9K3C5R4Q0V8W1XHPN',
  event_id: 'evt_01KFFHQ7WGS2Y47QBBGSV7HTCR',
  event_kind: 'purchase',
  payload: '{ "total": 12.50,\n "big": 12345678901234567890 }',
  url: 'https://hooks.example.com/v18.0/events/evt_01KFFHQ7WGS2Y47QBBGSV7HTCR',
};
const ATTRIBUTES = {
  specversion: '1.0',
  id: EVENT.event_id,
  source: `urn:hookline:account:${EVENT.account_id}`,
  type: 'purchase',
};

describe('the form of an event', () => {
  it('is its payload byte for byte by default', () => {
    assert.deepEqual(inFormat('event', EVENT), {
      body: EVENT.payload,
      headers: { 'content-type': 'application/json' },
    });
  });

  it('is id, kind and address alone, if it is thin', () => {
    const { body, headers } = inFormat('thin', EVENT);
    assert.deepEqual(JSON.parse(body), { id: EVENT.event_id, kind: 'purchase', url: EVENT.url });
    assert.deepEqual(headers, { 'content-type': 'application/json' });
  });

  it('is a CloudEvent in structured mode, whose data is the payload as it was posted', () => {
    const { body, headers } = inFormat('cloudevents_structured', EVENT);
    assert.deepEqual(headers, { 'content-type': 'application/cloudevents+json' });
    assert.ok(body.endsWith(`,"data":${EVENT.payload}}`));
    const { time, data: _, ...attributes } = JSON.parse(body);
    assert.deepEqual(attributes, { ...ATTRIBUTES, datacontenttype: 'application/json' });
    assert.match(time, /^2026-01-\d\dT[\d:.]+Z$/);
  });

  it('is a CloudEvent in binary mode, whose body is the payload and whose headers are its attributes', () => {
    const { body, headers } = inFormat('cloudevents_binary', EVENT);
    assert.equal(body, EVENT.payload);
    const { 'ce-time': time, ...others } = headers;
    assert.match(time ?? '', /^2026-01-\d\dT[\d:.]+Z$/);
    assert.deepEqual(others, {
      'content-type': 'application/json',
      ...Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [`ce-${name}`, value])),
    });
  });
});
