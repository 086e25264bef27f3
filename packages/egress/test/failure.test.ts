import assert from 'node:assert/strict';
import { BlockedAddressError } from '../src/address-guard.js';
import { describeFailure } from '../src/failure.js';
import { UnresolvedNameError } from '../src/names/name-answer.js';

const coded = (code: string, message = 'connect 10.1.2.3:443') => Object.assign(new Error(message), { code });

describe('a failure', () => {
  const cases: [unknown, string][] = [
    [coded('ECONNREFUSED'), 'connection_refused'],
    [coded('ECONNRESET'), 'connection_reset'],
    [coded('EPIPE'), 'connection_reset'],
    [coded('UND_ERR_SOCKET'), 'connection_reset'],
    [coded('UND_ERR_SOCKET', 'bad upgrade'), 'malformed_response'],
    [new UnresolvedNameError('not_found'), 'dns_failure'],
    [coded('CERT_HAS_EXPIRED'), 'tls_certificate_expired'],
    [coded('CERT_NOT_YET_VALID'), 'tls_certificate_expired'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls_certificate_untrusted'],
    [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'tls_certificate_untrusted'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls_name_mismatch'],
    [coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls_handshake_failed'],
    [coded('EPROTO'), 'tls_handshake_failed'],
    [coded('HPE_INVALID_CONSTANT'), 'malformed_response'],
    [coded('UND_ERR_HEADERS_OVERFLOW'), 'response_headers_too_large'],
    [coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), 'malformed_response'],
    [coded('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'tls_handshake_failed'],
    [coded('ETIMEDOUT'), 'timeout'],
    [coded('ERR_INVALID_URL'), 'invalid_url'],
    [coded('EHOSTUNREACH'), 'connection_failed'],
    [new BlockedAddressError(), 'blocked_address'],
    [new Error('outer', { cause: coded('ECONNREFUSED') }), 'connection_refused'],
    [new Error('nothing more'), 'connection_failed'],
    ['no error at all', 'connection_failed'],
  ];
  for (const [error, code] of cases) {
    const name = error instanceof Error && 'code' in error ? error.code : String(error);
    it(`${name} is called ${code}, in words that name no address`, () => {
      const described = describeFailure(error, false, 5_000);
      assert.equal(described.error_code, code);
      assert.ok(described.error.length > 0);
      assert.ok(!described.error.includes('10.1.2.3'));
    });
  }

  it('of DNS is told by what DNS said', () => {
    const reasons = ['not_found', 'no_addresses', 'too_many', 'silent', 'refused', 'failed'] as const;
    const told = reasons.map((reason) => describeFailure(new UnresolvedNameError(reason), false, 5_000));
    assert.deepEqual(new Set(told.map(({ error_code }) => error_code)), new Set(['dns_failure']));
    assert.equal(new Set(told.map(({ error }) => error)).size, reasons.length);
  });

  it('after the limit is a timeout, whatever the error says', () => {
    assert.deepEqual(describeFailure(coded('ECONNRESET'), true, 2_500), {
      error_code: 'timeout',
      error: 'no response within 2.5s',
    });
  });
});
