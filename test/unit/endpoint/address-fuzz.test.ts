import assert from 'node:assert/strict';
import { BlockList, isIP } from 'node:net';
import fc from 'fast-check';
import { createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import { checkTargetUrl } from '../../../src/domain/endpoint/endpoint.js';

const BLOCKS =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16`.split(/\s+/);

/**
 * Networks that are not public, by another library than the policy uses. One list each: it takes ::/3 to hold every
 * IPv4 address.
 */
function oracle(): { ipv4: BlockList; ipv6: BlockList } {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const block of BLOCKS) {
    const [network = '', bits] = block.split('/');
    const family = network.includes(':') ? 'ipv6' : 'ipv4';
    lists[family].addSubnet(network, Number(bits), family);
  }
  return lists;
}

describe('URL parsing, fuzzed', () => {
  const policy = createAddressPolicy({
    allowedNetworks: [],
    deniedNetworks: [],
    allowedPorts: ['80', '443', '1024-65535'],
  });
  const inner = oracle();
  const isInner = (host: string) => {
    const literal = host.replace(/^\[|\]$/g, '');
    const family = isIP(literal);
    if (family === 0) return false;
    return family === 4 ? inner.ipv4.check(literal, 'ipv4') : inner.ipv6.check(literal, 'ipv6');
  };
  const registers = (url: string) => checkTargetUrl(url, false, policy) === undefined;

  const octet = fc.nat(255);
  const innerV4 = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 224, 255), octet, octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), octet, octet),
  );
  const notation = fc.constantFrom(
    (n: number) => String(n),
    (n: number) => `0x${n.toString(16)}`,
    (n: number) => `0X${n.toString(16).toUpperCase().padStart(4, '0')}`,
    (n: number) => `0${n.toString(8)}`,
    (n: number) => `000${n.toString(8)}`,
  );
  const disguise = fc.constantFrom(
    (text: string) => text,
    (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(''),
    (text: string) =>
      [...text]
        .map((c) => (/[0-9a-zA-Z]/.test(c) ? String.fromCharCode(c.charCodeAt(0) + 0xfee0) : c))
        .join(''),
    (text: string) => text.replaceAll('.', '。'),
    (text: string) => `${text}.`,
    (text: string) => `\u00ad${text}`,
    (text: string) => `example.com@${text}`,
  );
  const weirdHost = fc
    .tuple(
      innerV4,
      fc.array(notation, { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      disguise,
    )
    .map(([parts, notations, count, hide]) => {
      // The last part of a short form holds what the missing ones would have.
      const head = parts.slice(0, count - 1);
      const tail = parts.slice(count - 1).reduce((sum, part) => sum * 256 + part, 0);
      return hide([...head, tail].map((part, index) => (notations[index] ?? String)(part)).join('.'));
    });

  it('refuses inner IPv4 addresses, however they are written', () => {
    fc.assert(
      fc.property(weirdHost, (host) => !registers(`https://${host}/hooks`)),
      { numRuns: 5_000 },
    );
  });

  it('refuses inner IPv6 addresses, however they are written', () => {
    const carrying = fc
      .tuple(
        fc.constantFrom(
          '::',
          '::ffff:',
          '::ffff:0:',
          '64:ff9b::',
          '64:ff9b:1::',
          '2001:0:',
          '2002:',
          'fe80::',
          'fd00::',
          'fec0::',
          'ff02::',
        ),
        innerV4,
      )
      .map(([prefix, [a, b, c, d]]) => {
        const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
        const tail = `${hex(a, b)}:${hex(c, d)}`;
        return prefix.endsWith('::') || prefix.startsWith('::') ? `${prefix}${tail}` : `${prefix}${tail}::`;
      });
    fc.assert(
      fc.property(carrying, (host) => !registers(`https://[${host}]/`)),
      { numRuns: 1_000 },
    );
  });

  it('accepts no URL that leads inside or holds credentials, among arbitrary ones', () => {
    const pieces = fc
      .array(
        fc.constantFrom(
          'https:',
          'http:',
          '//',
          '/',
          '\\',
          '@',
          ':',
          '#',
          '?',
          '[',
          ']',
          '.',
          '127.0.0.1',
          '0x7f',
          '::1',
          '::ffff:',
          '10',
          '443',
          '22',
          'localhost',
          'a.example',
          '%2e',
          '%00',
          '\t',
          '\n',
          ' ',
          '。',
          '１',
          'ß',
          'xn--',
          '\u202e',
        ),
        { maxLength: 12 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        fc.oneof(
          pieces,
          pieces.map((rest) => `https://${rest}`),
          fc
            .tuple(
              fc.constantFrom('', '@', 'a@', 'a:b@'),
              fc.webAuthority({ withIPv4: true, withIPv4Extended: true, withIPv6: true, withPort: true }),
            )
            .map((parts) => `https://${parts.join('')}/`),
          fc.string(),
        ),
        (text) => {
          if (!registers(text)) return true;
          const url = new URL(text);
          return (
            url.protocol === 'https:' &&
            url.username === '' &&
            url.password === '' &&
            !isInner(url.hostname) &&
            !/(^|\.)localhost\.?$/.test(url.hostname)
          );
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it('agrees with an independent list on arbitrary addresses, and on those of each block of it', () => {
    const arbitrary = fc.oneof(fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(arbitrary, (address) => !(policy.allows(address) && isInner(address))),
      { numRuns: 2_000 },
    );
    const bits = fc.sample(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), 100);
    for (const block of BLOCKS)
      for (const address of bits.map((some) => within(block, some))) {
        assert.ok(isInner(address), address);
        assert.ok(!policy.allows(address), address);
      }
  });
});

/** An address of a block, which has these bits behind those of the block. */
function within(block: string, bits: bigint): string {
  const [network = '', length] = block.split('/');
  const isV6 = network.includes(':');
  const [size, part, base, mark] = isV6 ? ([128, 16, 16, ':'] as const) : ([32, 8, 10, '.'] as const);
  const groups = network
    .replace('::', ':'.repeat(size / part))
    .split(mark)
    .slice(0, size / part);
  const value = groups.reduce(
    (sum, group) => sum * 2n ** BigInt(part) + BigInt(Number.parseInt(group || '0', base)),
    0n,
  );
  const address = value + (bits % 2n ** BigInt(size - Number(length)));
  return Array.from({ length: size / part }, (_, index) =>
    ((address >> BigInt(size - part * (index + 1))) % 2n ** BigInt(part)).toString(base),
  ).join(mark);
}
