import { doesNotMatch, equal, match } from 'node:assert/strict';
import type { Alert } from '../../../src/domain/alert/alert.js';
import { renderAlerts } from '../../../src/domain/alert/alert-text.js';

const FAILING: Alert = {
  id: 'evt_1',
  kind: 'endpoint.failing',
  at: '2026-11-21T12:00:00.123Z',
  since: '2026-11-21T12:00:00.123Z',
  account_id: 'acct_1',
  endpoint_id: 'ep_1',
  host: 'shop.example.com',
  said: 'got a 503 response',
};

describe('the text of an alert', () => {
  it('says what, where, since when and why', () => {
    const { subject, text } = renderAlerts({ alerts: [FAILING], left_out: 0 });
    equal(subject, 'Hookline: shop.example.com is failing');
    equal(
      text,
      'shop.example.com is failing, since 2026-11-21 12:00:00 UTC.\nLast attempt: got a 503 response.\nEndpoint ep_1, account acct_1\n',
    );
  });

  it('says how an incident ended', () => {
    const at = '2026-11-21T13:00:00Z';
    const { text } = renderAlerts({ alerts: [{ ...FAILING, kind: 'endpoint.recovered', at }], left_out: 0 });
    match(text, /^shop\.example\.com has recovered at 2026-11-21 13:00:00 UTC\.$/m);
    match(text, /^It had been failing since 2026-11-21 12:00:00 UTC\.$/m);
  });

  it('counts many, and what is left out', () => {
    const disabled = { ...FAILING, kind: 'endpoint.disabled', said: 'It responded with 410 Gone.' };
    const { subject, text } = renderAlerts({ alerts: [FAILING, disabled, disabled], left_out: 7 });
    equal(subject, 'Hookline: 3 alerts: 1 failing, 2 disabled');
    match(text, /^7 further alerts are not listed/m);
  });

  it('has one line for what an endpoint said, however that looks, and for a subject', () => {
    const said = `failed\r\nBcc: all@example.com\r\n${'x'.repeat(5_000)}`;
    const { subject, text } = renderAlerts({
      alerts: [{ ...FAILING, host: 'shop\r\nBcc: all@example.com', said }],
      left_out: 0,
    });
    doesNotMatch(subject, /[\r\n]/);
    doesNotMatch(text, /^Bcc/m);
    match(text, /x{250} ?…/);
  });
});
