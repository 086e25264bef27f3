import assert from 'node:assert/strict';
import {
  deliverySummary,
  endpointSummary,
  fanOutSummary,
  fitSummary,
  groupSummary,
  hostOf,
  MAX_SUMMARY_BYTES,
} from '../../../src/domain/ledger/summaries.js';

describe('the summary of a timer', () => {
  it('is the text itself where Temporal takes it', () => {
    for (const text of ['', 'attempt 1 got a 503 response', 'x'.repeat(200), 'é'.repeat(100)])
      assert.equal(fitSummary(text), text);
  });

  it('is cut off by bytes, between characters', () => {
    for (const character of ['x', 'é', '漢', '🪝']) {
      const size = Buffer.byteLength(character);
      for (const prefix of ['', 'a', 'ab', 'abc']) {
        const summary = fitSummary(prefix + character.repeat(300));
        const fits = Math.floor((MAX_SUMMARY_BYTES - prefix.length) / size);
        assert.equal(summary, prefix + character.repeat(fits));
      }
    }
  });
});

describe('the summary of an execution', () => {
  const host = 'shop.example.com:8443';

  it('names a kind and a host, or ids and numbers where there is none', () => {
    assert.equal(deliverySummary('purchase', { endpoint_id: 'ep_1', host }), `purchase → ${host}`);
    assert.equal(deliverySummary('purchase', { endpoint_id: 'ep_1' }), 'purchase → ep_1');
    assert.equal(
      groupSummary('purchase', ['ep_1', 'ep_1'], () => host),
      `2 × purchase → ${host}`,
    );
    assert.equal(
      groupSummary('purchase', ['ep_1', 'ep_2', 'ep_1'], () => host),
      '3 × purchase → 2 endpoints',
    );
    assert.equal(fanOutSummary('purchase', 0), 'purchase → 0 endpoints');
    assert.equal(fanOutSummary('purchase', 1), 'purchase → 1 endpoint');
    assert.equal(
      endpointSummary('incident', { account_id: 'acct_1', endpoint_id: 'ep_1' }),
      'incident of ep_1',
    );
  });

  it('fits, however long kind and host are', () => {
    const summary = deliverySummary('k'.repeat(128), { endpoint_id: 'ep_1', host: `${'h'.repeat(250)}.com` });
    assert.equal(Buffer.byteLength(summary), MAX_SUMMARY_BYTES);
  });

  it('has only the host of a URL, and nothing of text that is none', () => {
    assert.equal(hostOf('https://user:secret@shop.example.com:8443/hooks?token=secret#secret'), host);
    assert.equal(hostOf('secret'), undefined);
    assert.equal(hostOf(undefined), undefined);
  });
});
