import assert from 'node:assert/strict';
import { type DnsAnswer, startHostileDns } from '../../../../test/support/outside/hostile-dns.js';
import { dnsServers } from '../../src/names/dns-query.js';
import { UnresolvedNameError } from '../../src/names/name-answer.js';

/** Results, by the responses about IPv4 and about IPv6. */
const CASES: [v4: DnsAnswer, v6: DnsAnswer, found: string][] = [
  [['192.0.2.1', '192.0.2.2'], ['2001:db8::1'], '2001:db8::1 192.0.2.1 192.0.2.2'],
  [['192.0.2.1'], [], '192.0.2.1'],
  [[], ['2001:db8::1'], '2001:db8::1'],
  [['192.0.2.1'], 'SERVFAIL', '192.0.2.1'],
  [['192.0.2.1'], 'silence', '192.0.2.1'],
  ['silence', ['2001:db8::1'], '2001:db8::1'],
  ['NXDOMAIN', 'NXDOMAIN', 'not_found'],
  [[], [], 'no_addresses'],
  ['SERVFAIL', 'SERVFAIL', 'failed'],
  ['REFUSED', 'REFUSED', 'refused'],
  [[], 'SERVFAIL', 'failed'],
  [addresses(65), [], 'too_many'],
  [addresses(65), ['2001:db8::1'], '2001:db8::1'],
];

function addresses(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `192.0.2.${index}`);
}

describe('a question to DNS', () => {
  for (const [v4, v6, found] of CASES) {
    it(`about which ${said(v4)} is said for IPv4, ${said(v6)} for IPv6, finds ${found}`, async () => {
      const dns = await startHostileDns(() => v4, { v6: () => v6, ttl: 60 });
      try {
        const first = await dnsServers([dns.address])('a.test').catch((error: UnresolvedNameError) => error);
        if (first instanceof UnresolvedNameError) return assert.equal(first.reason, found);
        // An answer after the resolution delay is told later. Nobody waits for a server that is silent.
        const answer = [v4, v6].includes('silence') ? first : ((await first.whole) ?? first);
        assert.equal(answer.addresses.map(({ address }) => address).join(' '), found);
        assert.equal(answer.ttlMs, 60_000);
      } finally {
        await dns.close();
      }
    });
  }

  it('says when the rest of the answer comes', async () => {
    let tell: (answer: DnsAnswer) => void = () => {};
    const late = new Promise<DnsAnswer>((resolve) => {
      tell = resolve;
    });
    const dns = await startHostileDns(() => ['192.0.2.1'], { v6: () => late });
    try {
      const { addresses, whole } = await dnsServers([dns.address])('a.test');
      assert.deepEqual(addresses, [{ address: '192.0.2.1', family: 4 }]);
      tell(['2001:db8::1']);
      assert.equal((await whole)?.addresses.length, 2);
    } finally {
      await dns.close();
    }
  });

  it('finds nothing for what is no name', async () => {
    const dns = await startHostileDns(() => []);
    try {
      await assert.rejects(dnsServers([dns.address])(`${'a'.repeat(64)}.test`), { reason: 'not_found' });
    } finally {
      await dns.close();
    }
  });
});

function said(answer: DnsAnswer): string {
  if (typeof answer === 'string') return answer;
  return answer.length > 2 ? `${answer.length} addresses` : answer.join(' ') || 'NODATA';
}
