import assert from 'node:assert/strict';
import { promisify } from 'node:util';
import { BlockedAddressError, createAddressGuard } from '../../activities/http/address-guard.js';

const PUBLIC = [
  '8.8.8.8',
  '1.1.1.1',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.0.1',
  '2606:4700::1111',
  '::ffff:8.8.8.8',
];
const REFUSED = {
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1'],
  'this host': ['0.0.0.0', '0.1.2.3', '::'],
  private: [
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    'fc00::1',
    'fd12::1',
    '::ffff:10.0.0.1',
  ],
  'link-local, with cloud metadata': ['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', 'fec0::1'],
  shared: ['100.64.0.1', '100.127.255.255'],
  'documentation and benchmarks': [
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
    '198.18.0.1',
    '2001:db8::1',
    '3fff::1',
  ],
  'multicast, broadcast and reserved': ['224.0.0.1', '255.255.255.255', '240.0.0.1', '192.0.0.1', 'ff02::1'],
  'IPv6 that carries IPv4': [
    '64:ff9b::7f00:1',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '::ffff:0:127.0.0.1',
  ],
  'no address at all': ['', 'localhost', 'example.com', '1.2.3.4.5', '256.1.1.1'],
};

describe('the address guard', () => {
  const guard = createAddressGuard([]);

  for (const address of PUBLIC) {
    it(`allows ${address}`, () => assert.equal(guard.allows(address), true));
  }
  for (const [what, addresses] of Object.entries(REFUSED)) {
    for (const address of addresses) {
      it(`refuses ${address || 'nothing'} (${what})`, () => assert.equal(guard.allows(address), false));
    }
  }

  it('allows what the operator allows, and nothing beside it', () => {
    const wider = createAddressGuard(['10.1.0.0/16', 'fd00:1::/32']);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::5', '8.8.8.8']) {
      assert.equal(wider.allows(address), true, address);
    }
    for (const address of ['10.2.0.1', 'fd00:2::5', '127.0.0.1', '169.254.169.254']) {
      assert.equal(wider.allows(address), false, address);
    }
  });

  for (const text of ['10.0.0.1', '10.0.0.0/33', 'internal', '10.0.0.0/8/8']) {
    it(`takes no "${text}" for a network`, () => {
      assert.throws(
        () => createAddressGuard([text]),
        (error: Error) => {
          return error instanceof RangeError && error.message.includes(`"${text}"`);
        },
      );
    });
  }

  it('fails the look-up of a name that leads inside', async () => {
    const lookup = promisify(guard.lookup) as (name: string, options: object) => Promise<unknown>;
    await assert.rejects(lookup('localhost', {}), BlockedAddressError);
    await assert.rejects(lookup('localhost', { all: true }), BlockedAddressError);
  });
});
