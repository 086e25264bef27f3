import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { folderOfEach } from '../../../../test/support/folder.js';
import {
  type DnsAnswer,
  type HostileDns,
  startHostileDns,
} from '../../../../test/support/outside/hostile-dns.js';
import { createResolver } from '../../src/names/dns-query.js';
import type { ResolveName, UnresolvedNameError } from '../../src/names/name-answer.js';
import { parseHosts, parseSearchDomains, systemNames } from '../../src/names/system-names.js';

const HOSTS = `
# a comment
127.0.0.1   localhost
192.0.2.10  Printer printer.office.test # beside the door
2001:db8::7 printer
fe80::1%lo0 localhost
not-an-address broken
`;

const IN_DNS: Record<string, DnsAnswer> = {
  'example.test': ['192.0.2.1'],
  'db.ns.svc.cluster.test': ['192.0.2.2'],
  'db.other.svc.cluster.test': ['192.0.2.3'],
  'broken.test': 'SERVFAIL',
};

describe('names as the operating system resolves them', () => {
  const inFolder = folderOfEach();
  let dns: HostileDns;
  let resolve: ResolveName;
  let seconds: number;
  let resolvers: number;
  const write = (file: string, text: string) => writeFile(inFolder(file), text);
  const addressOf = (name: string) =>
    resolve(name).then(
      ({ addresses }) => addresses.map(({ address }) => address).join(' '),
      (error: UnresolvedNameError) => error.reason,
    );

  before(async () => {
    dns = await startHostileDns((name) => IN_DNS[name] ?? 'NXDOMAIN', {
      v6: (name) => (IN_DNS[name] ? [] : 'NXDOMAIN'),
    });
  });
  beforeEach(async () => {
    await write('hosts', HOSTS);
    await write(
      'resolv.conf',
      'nameserver 192.0.2.53\nsearch ns.svc.cluster.test svc.cluster.test\noptions ndots:5\n',
    );
    seconds = 0;
    resolvers = 0;
    resolve = systemNames({
      hostsFile: inFolder('hosts'),
      resolvFile: inFolder('resolv.conf'),
      makeResolver: () => {
        resolvers += 1;
        return createResolver([dns.address]);
      },
      now: () => seconds * 1_000,
    });
  });
  after(() => dns.close());

  it('are those of the file of hosts first, and of DNS', async () => {
    assert.equal(await addressOf('printer'), '192.0.2.10 2001:db8::7');
    assert.equal(await addressOf('PRINTER.office.test.'), '192.0.2.10');
    assert.equal(await addressOf('example.test'), '192.0.2.1');
    assert.equal(await addressOf('example.test.'), '192.0.2.1');
    assert.equal((await resolve('printer')).ttlMs, undefined);
  });

  it('are looked for in the search domains, unless they end with a dot', async () => {
    assert.equal(await addressOf('db'), '192.0.2.2');
    assert.equal(await addressOf('db.other'), '192.0.2.3');
    assert.equal(await addressOf('db.'), 'not_found');
    assert.equal(await addressOf('nowhere.test'), 'not_found');
  });

  it('are not looked for any further where DNS fails', async () => {
    assert.equal(await addressOf('broken.test'), 'failed');
    assert.deepEqual(
      dns.questions.filter((name) => name.startsWith('broken')),
      ['broken.test'],
    );
  });

  it('are never asked of DNS for this machine', async () => {
    for (const name of ['a.localhost', 'localhost.'])
      assert.match(await addressOf(name), /^127\.0\.0\.1( ::1)?$/);
    await write('hosts', '');
    seconds += 2;
    assert.equal(await addressOf('localhost'), '127.0.0.1 ::1');
    assert.ok(dns.questions.every((name) => !name.includes('localhost')));
  });

  it('change with the files, also when one comes or goes', async () => {
    assert.equal(await addressOf('printer'), '192.0.2.10 2001:db8::7');
    await write('hosts', '192.0.2.20 printer.moved.test printer');
    await write('resolv.conf', 'search svc.cluster.test other.svc.cluster.test\n');
    assert.equal(await addressOf('printer'), '192.0.2.10 2001:db8::7');
    seconds += 2;
    assert.equal(await addressOf('printer'), '192.0.2.20');
    assert.equal(await addressOf('db'), '192.0.2.3');
    assert.equal(resolvers, 1);
    await rm(inFolder('hosts'));
    await rm(inFolder('resolv.conf'));
    seconds += 2;
    assert.equal(await addressOf('printer'), 'not_found');
    assert.equal(await addressOf('db'), 'not_found');
    assert.equal(resolvers, 2);
  });

  it('are read from files as their manuals say', () => {
    assert.deepEqual([...parseHosts(HOSTS).keys()], ['localhost', 'printer', 'printer.office.test']);
    assert.deepEqual(parseHosts('127.0.0.1 localhost\n127.0.0.1 localhost\r\n').get('localhost')?.length, 1);
    for (const [text, domains] of [
      ['', []],
      ['search .', []],
      ['domain example.test', ['example.test']],
      ['search a.test\nsearch B.test. c.test  ', ['b.test', 'c.test']],
      ['# search a.test\n; search b.test', []],
    ] as const)
      assert.deepEqual(parseSearchDomains(text), domains, text);
  });
});
