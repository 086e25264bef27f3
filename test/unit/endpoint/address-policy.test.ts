import assert from 'node:assert/strict';
import { createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import { checkTargetUrl } from '../../../src/domain/endpoint/endpoint.js';

const policyOf = (allowedNetworks: string[] = [], deniedNetworks: string[] = []) =>
  createAddressPolicy({ allowedNetworks, deniedNetworks, allowedPorts: ['80', '443', '1024-65535'] });

/** Address, and why it is what it is. */
const REFUSED_ADDRESSES: [string, string][] = [
  ['0.0.0.0', 'this host'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private, last'],
  ['100.64.0.1', 'carrier NAT'],
  ['100.127.255.254', 'carrier NAT, last'],
  ['100.100.100.200', 'metadata of Alibaba'],
  ['127.0.0.1', 'loopback'],
  ['127.1.2.3', 'loopback'],
  ['127.255.255.255', 'loopback, last'],
  ['168.63.129.16', 'metadata of Azure, in no special range'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata of most clouds'],
  ['169.254.170.2', 'credentials of containers'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private, last'],
  ['192.0.0.1', 'protocol assignments'],
  ['192.0.0.192', 'metadata of Oracle'],
  ['192.0.2.1', 'documentation'],
  ['192.31.196.1', 'AS112'],
  ['192.52.193.1', 'AMT'],
  ['192.88.99.1', '6to4 relay'],
  ['192.168.0.1', 'private'],
  ['192.175.48.1', 'AS112'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking, last'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.7', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.250', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::8.8.8.8', 'IPv4-compatible, public inside'],
  ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
  ['::ffff:10.0.0.1', 'IPv4-mapped private'],
  ['::ffff:7f00:1', 'IPv4-mapped loopback, hexadecimal'],
  ['::ffff:169.254.169.254', 'IPv4-mapped metadata'],
  ['::ffff:8.8.8.8', 'IPv4-mapped, public inside'],
  ['::ffff:0:127.0.0.1', 'IPv4-translated (RFC 6145)'],
  ['64:ff9b::7f00:1', 'NAT64 of loopback'],
  ['64:ff9b::a9fe:a9fe', 'NAT64 of metadata'],
  ['64:ff9b:1::1', 'NAT64, local use'],
  ['100::1', 'discard'],
  ['2001::1', 'Teredo'],
  ['2001:0:7f00:1::', 'Teredo of loopback'],
  ['2001:2::1', 'benchmarking'],
  ['2001:3::1', 'AMT'],
  ['2001:4:112::1', 'AS112'],
  ['2001:10::1', 'ORCHID'],
  ['2001:20::1', 'ORCHIDv2'],
  ['2001:30::1', 'drone identifiers'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4 of loopback'],
  ['2002:c0a8:1::1', '6to4 of private'],
  ['2620:4f:8000::1', 'AS112'],
  ['2a00:1450:4001:80e:0:5efe:7f00:1', 'ISATAP of loopback'],
  ['2a00:1450:4001:80e:200:5efe:c0a8:1', 'ISATAP of private'],
  ['3fff::1', 'documentation'],
  ['4000::1', 'given out to nobody'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00:ec2::254', 'metadata of AWS over IPv6'],
  ['fdff::1', 'unique local'],
  ['fe80::1', 'link-local'],
  ['febf::1', 'link-local, last'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
  ['fe80::1%eth0', 'with a zone'],
  ['2a00:1450:4001:80e::200e%eth0', 'with a zone'],
  ['0x7f.0.0.1', 'hexadecimal part'],
  ['0177.0.0.1', 'octal part'],
  ['08.8.8.8', 'leading zero, which some read as octal'],
  ['2130706433', 'one number'],
  ['127.1', 'two parts'],
  ['example.com', 'no address'],
  ['', 'nothing'],
];

const ALLOWED_ADDRESSES = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.1',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.1',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.1',
  '192.0.1.1',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80e::200e',
];

/** URLs that nobody may register where the installation is open to the internet. */
const REFUSED_URLS: string[] = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0x0.0x0.0x1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0x7f.1/',
  'https://0300.0250.1/',
  'https://127.0.0.1./',
  'https://%31%32%37.0.0.1/',
  'https://１２７.０.０.１/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://10.0.0.1/',
  'https://3232235777/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/',
  'https://168.63.129.16/',
  'https://[::1]/',
  'https://[::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[2002:7f00:1::]/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://0/',
  'https://0.0.0.0/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
  'https://api.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://router.home.arpa/',
  'https://intranet/',
  'https://user:password@example.com/',
  'https://user@example.com/',
  'https://127.0.0.1@example.com/',
  'https://example.com:22/',
  'https://example.com:25/',
  'https://example.com:0/',
  'https://example.com/#fragment',
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'javascript:alert(1)',
  'data:text/plain,hello',
  'https://',
  'https:///path',
  'https://[::1',
  'https://256.256.256.256/',
  'https://1.2.3.4.5/',
  'https://exa mple.com/',
  'https://example.com:99999/',
  '//example.com/',
  'example.com',
  '',
  ' ',
  `https://example.com/${'a'.repeat(2_048)}`,
];

const ALLOWED_URLS: string[] = [
  'https://example.com/',
  'https://example.com/hooks?team=1',
  'https://EXAMPLE.com./hooks',
  'https://example.com:443/',
  'https://example.com:8443/',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://[2606:4700:4700::1111]/',
  'https://bücher.example.org/',
  'https://xn--bcher-kva.example.org/',
  'https://127.0.0.1.example.com/',
  'https://localhost.example.com/',
  'https:\\\\example.com\\hooks',
];

describe('the address policy', () => {
  const policy = policyOf();

  for (const [address, why] of REFUSED_ADDRESSES) {
    it(`refuses ${address || 'an empty address'} (${why})`, () =>
      assert.equal(policy.allows(address), false));
  }
  for (const address of ALLOWED_ADDRESSES) {
    it(`allows ${address}`, () => assert.equal(policy.allows(address), true));
  }
  for (const url of REFUSED_URLS) {
    it(`refuses to register ${url.slice(0, 60) || 'nothing'}`, () => {
      assert.ok(checkTargetUrl(url, false, policy));
    });
  }
  for (const url of ALLOWED_URLS) {
    it(`allows ${url} to be registered`, () => assert.equal(checkTargetUrl(url, false, policy), undefined));
  }

  it('covers more than 120 cases', () => {
    const cases = [REFUSED_ADDRESSES, ALLOWED_ADDRESSES, REFUSED_URLS, ALLOWED_URLS].flat();
    assert.ok(new Set(cases.map(String)).size > 120);
  });

  it("has operators' allowed networks besides, and lets their denied ones win", () => {
    const open = policyOf(['10.0.0.0/8', '127.0.0.0/8', 'fd00::/8'], ['10.6.0.0/16', '8.8.8.0/24']);
    assert.equal(open.allows('10.1.2.3'), true);
    assert.equal(open.allows('::ffff:10.1.2.3'), true);
    assert.equal(open.allows('fd12::1'), true);
    assert.equal(open.allows('10.6.2.3'), false);
    assert.equal(open.allows('::ffff:10.6.2.3'), false);
    assert.equal(open.allows('8.8.8.8'), false);
    assert.equal(open.allows('192.168.0.1'), false);
    assert.equal(checkTargetUrl('https://localhost/', false, open), undefined);
    for (const network of ['127.0.0.0/8', '::1/128']) {
      const loopback = policyOf([network]);
      assert.equal(checkTargetUrl('https://localhost/', false, loopback), undefined, network);
    }
    assert.equal(checkTargetUrl('https://intranet/', false, open), undefined);
  });

  it('refuses cloud metadata addresses whatever is allowed', () => {
    const open = policyOf(['0.0.0.0/0', '::/0']);
    for (const address of ['169.254.169.254', '168.63.129.16', 'fd00:ec2::254', '::ffff:169.254.169.254']) {
      assert.equal(open.allows(address), false);
    }
  });

  it('names a setting that is not a network or port', () => {
    assert.throws(() => policyOf(['10.0.0.0']), /"10\.0\.0\.0" is not a network/);
    for (const port of ['https', '0', '70000', '9-1'])
      assert.throws(
        () => createAddressPolicy({ allowedNetworks: [], deniedNetworks: [], allowedPorts: [port] }),
        /is not a port/,
      );
  });
});
