import { equal, match, notEqual } from 'node:assert/strict';
import {
  deliverySpanId,
  formatTraceparent,
  parseTraceparent,
} from '../../../src/domain/trace/trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('traceparent', () => {
  it('is read as W3C Trace Context says, and written again', () => {
    for (const flags of ['00', '01']) {
      const text = `00-${TRACE}-${SPAN}-${flags}`;
      const context = parseTraceparent(text);
      equal(context?.isSampled, flags === '01');
      equal(context && formatTraceparent(context), text);
    }
  });

  it('of a later version is read as version 00, of which only the sampled flag is known', () => {
    equal(parseTraceparent(`01-${TRACE}-${SPAN}-03-more`)?.isSampled, true);
    equal(parseTraceparent(`01-${TRACE}-${SPAN}-02`)?.isSampled, false);
  });

  it('that is not valid is no trace', () => {
    for (const text of [
      undefined,
      '',
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-01-more`,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${TRACE}-${SPAN}-01\r\nx: y`,
    ])
      equal(parseTraceparent(text), undefined, text);
  });

  it('gives each delivery a span id of its own, always the same', () => {
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    const id = deliverySpanId(traceparent, { event_id: 'evt_1', endpoint_id: 'ep_1' });
    match(id, /^[\da-f]{16}$/);
    equal(deliverySpanId(traceparent, { event_id: 'evt_1', endpoint_id: 'ep_1' }), id);
    notEqual(deliverySpanId(traceparent, { event_id: 'evt_1', endpoint_id: 'ep_2' }), id);
  });
});
