import assert from 'node:assert/strict';
import { requestedRate, withQuery } from '../../../activities/endpoint/ask-endpoint.js';

describe('what an endpoint is asked', () => {
  it('keeps the query of its URL as it was registered', () => {
    const added = { 'hub.mode': 'subscribe', 'hub.challenge': 'a b&c' };
    const ours = 'hub.mode=subscribe&hub.challenge=a+b%26c';
    for (const [url, expected] of [
      ['https://example.com/', `https://example.com/?${ours}`],
      ['https://example.com/h?', `https://example.com/h?${ours}`],
      ['https://example.com/h?token=a%20b&flag', `https://example.com/h?token=a%20b&flag&${ours}`],
      ['https://example.com/h?a&&b=%7e~+%2B', `https://example.com/h?a&&b=%7e~+%2B&${ours}`],
      ['https://example.com/h?hub.mode=x&a=1&hub%2Emode=y', `https://example.com/h?a=1&${ours}`],
      ['https://example.com/h?toString&__proto__=1', `https://example.com/h?toString&__proto__=1&${ours}`],
    ] as const)
      assert.equal(withQuery(url, added), expected);
  });

  it('is a rate that is a whole number above 0, and not less than what is sent', () => {
    const rates = [0.01, 0.016, 1 / 60, 0.02, 0.1, 0.7, 1.1, 5, 1_000];
    assert.deepEqual(rates.map(requestedRate), ['1', '1', '1', '2', '6', '42', '66', '300', '60000']);
  });
});
