import assert from 'node:assert/strict';
import { type Answer, type Decision, decide } from '../../../src/domain/attempt/outcome.js';
import { MAX_RETRY_AFTER_MS } from '../../../src/domain/http/retry-after.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;

const delivered: Decision = { outcome: 'delivered' };
const failed: Decision = { outcome: 'failed' };
const gone: Decision = { outcome: 'gone' };
const deferred = (ms: number): Decision => ({ outcome: 'failed', retry_after_ms: ms });
const date = (ms: number) => new Date(NOW + ms).toUTCString();

const TABLE: [name: string, answer: Answer, decision: Decision][] = [
  ...[200, 201, 202, 204, 226, 299].map((status): [string, Answer, Decision] => [
    `${status}`,
    { status_code: status },
    delivered,
  ]),
  ['200 with Retry-After', { status_code: 200, retry_after: '60' }, delivered],
  ...[300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 411, 413, 415, 418].map(
    (status): [string, Answer, Decision] => [`${status}`, { status_code: status }, failed],
  ),
  ...[421, 422, 423, 425, 429, 451, 499, 500, 501, 502, 503, 504, 507, 511, 520, 599, 600, 999].map(
    (status): [string, Answer, Decision] => [`${status}`, { status_code: status }, failed],
  ),
  ['410', { status_code: 410 }, gone],
  ['410 with Retry-After', { status_code: 410, retry_after: '60' }, gone],
  ['429, seconds', { status_code: 429, retry_after: '120' }, deferred(120_000)],
  ['503, seconds', { status_code: 503, retry_after: ' 120 ' }, deferred(120_000)],
  ['503, date', { status_code: 503, retry_after: date(2 * HOUR) }, deferred(2 * HOUR)],
  [
    '503, date of an endpoint whose clock is an hour ahead',
    { status_code: 503, retry_after: date(HOUR + 20_000), date: date(HOUR) },
    deferred(20_000),
  ],
  [
    '503, date, and a Date that is none',
    { status_code: 503, retry_after: date(2 * HOUR), date: 'now' },
    deferred(2 * HOUR),
  ],
  ['429, 72 h', { status_code: 429, retry_after: String(72 * 3_600) }, deferred(MAX_RETRY_AFTER_MS)],
  ['429, longer', { status_code: 429, retry_after: '99999999999999' }, deferred(MAX_RETRY_AFTER_MS)],
  ['503, date beyond', { status_code: 503, retry_after: date(100 * HOUR) }, deferred(MAX_RETRY_AFTER_MS)],
  ['429, date past', { status_code: 429, retry_after: date(-HOUR) }, failed],
  ['429, zero', { status_code: 429, retry_after: '0' }, failed],
  ...['-5', '1.5', 'soon', '', '2026-03-01T13:00:00Z', '1e3'].map((text): [string, Answer, Decision] => [
    `429, unreadable "${text}"`,
    { status_code: 429, retry_after: text },
    failed,
  ]),
  ['500 may not defer', { status_code: 500, retry_after: '120' }, failed],
  ['425 may not defer', { status_code: 425, retry_after: '120' }, failed],
  ...(
    [
      'timeout',
      'connection_refused',
      'connection_reset',
      'connection_failed',
      'dns_failure',
      'tls_certificate_expired',
      'tls_certificate_untrusted',
      'tls_name_mismatch',
      'tls_handshake_failed',
      'malformed_response',
      'response_headers_too_large',
      'invalid_url',
      'proxy_failed',
    ] as const
  ).map((error_code): [string, Answer, Decision] => [error_code, { error_code }, failed]),
  ['blocked_address', { error_code: 'blocked_address' }, { outcome: 'blocked' }],
];

describe('the decision on an attempt', () => {
  for (const [name, answer, decision] of TABLE) {
    it(`${name}: ${decision.outcome}${decision.retry_after_ms ? ', deferred' : ''}`, () => {
      assert.deepEqual(decide(answer, NOW), decision);
    });
  }
});
