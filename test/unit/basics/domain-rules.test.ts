import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import { ACCOUNT_SCOPES, API_KEY, SCOPES } from '../../../src/domain/access/api-key.js';
import { hashSecret } from '../../../src/domain/access/secret-hash.js';
import { deliveryId, parseDeliveryId } from '../../../src/domain/basics/delivery-id.js';
import { formatDuration, formatInUnits, parseDuration } from '../../../src/domain/basics/duration.js';
import { idTime } from '../../../src/domain/basics/id-time.js';
import { type IdKind, isId, newId } from '../../../src/domain/basics/ids.js';
import { RELEASE } from '../../../src/domain/basics/release.js';
import { checkEventKinds, checkTargetUrl } from '../../../src/domain/endpoint/endpoint.js';
import {
  EVENT_KINDS,
  findEventKind,
  isReservedEventKindName,
  matchesKind,
} from '../../../src/domain/event/event-kinds.js';
import { Problem } from '../../../src/domain/http/problem.js';
import { CURRENT_VERSION, resolveVersion, VERSIONS } from '../../../src/domain/http/versions.js';

const policy = createAddressPolicy({ allowedNetworks: [], deniedNetworks: [], allowedPorts: ['1-65535'] });

describe('ids', () => {
  const kinds: [IdKind, string][] = [
    ['account', 'acct_'],
    ['api_key', 'key_'],
    ['endpoint', 'ep_'],
    ['event', 'evt_'],
    ['request', 'req_'],
  ];
  for (const [kind, prefix] of kinds) {
    it(`of an ${kind} begin with ${prefix}, and are distinguished from others`, () => {
      const id = newId(kind);
      assert.ok(id.startsWith(prefix));
      assert.ok(isId(kind, id));
      for (const [other] of kinds) assert.equal(isId(other, id), other === kind);
    });
  }

  it('sort by time, and tell it', () => {
    const [earlier, later] = [newId('event', 1_000_000), newId('event', 1_000_001)];
    assert.ok(earlier < later);
    assert.equal(idTime(later), 1_000_001);
  });

  for (const text of ['', 'evt_', "evt_' OR 1=1", `${newId('event')}x`, newId('event').toLowerCase()]) {
    it(`do not look like ${JSON.stringify(text)}`, () => assert.equal(isId('event', text), false));
  }

  it('of a delivery hold those of its event and endpoint', () => {
    const key = { event_id: newId('event'), endpoint_id: newId('endpoint') };
    assert.deepEqual(parseDeliveryId(deliveryId(key)), key);
    assert.equal(parseDeliveryId(key.event_id), undefined);
    assert.equal(parseDeliveryId(`${deliveryId(key)}:x`), undefined);
  });
});

describe('durations', () => {
  const durations: [string, number][] = [
    ['0ms', 0],
    ['250ms', 250],
    ['5s', 5_000],
    ['1.5s', 1_500],
    ['30m', 1_800_000],
    ['2h', 7_200_000],
    ['7d', 604_800_000],
    [' 5s ', 5_000],
  ];
  for (const [text, ms] of durations) {
    it(`"${text}" is ${ms} ms`, () => assert.equal(parseDuration(text), ms));
  }
  for (const text of ['', '5', 's', '-5s', '5 s', '5w', '1e3s', '5s,5m', 'NaNs']) {
    it(`"${text}" is none`, () => {
      assert.throws(
        () => parseDuration(text),
        (error: Error) => {
          return error instanceof RangeError && error.message.includes(`"${text}"`);
        },
      );
    });
  }
  for (const [ms, text] of [
    [0, '0ms'],
    [12.4, '12ms'],
    [1_000, '1s'],
    [1_234, '1.234s'],
    [60_000, '1m'],
    [90_000, '90s'],
    [172_800_000, '2d'],
  ] as const) {
    it(`${ms} ms are written ${text}`, () => assert.equal(formatDuration(ms), text));
  }
  for (const [ms, text] of [
    [272_105_000, '3d 3h 35m 5s'],
    [3_600_500, '1h'],
    [999, '0s'],
  ] as const) {
    it(`${ms} ms are written ${text} in units`, () => assert.equal(formatInUnits(ms), text));
  }
});

describe('API keys', () => {
  it('have a form that can be checked without a look-up', () => {
    const key = API_KEY.make();
    assert.match(key, /^hlk_[\w-]{49}$/);
    assert.ok(API_KEY.isOne(key));
    assert.notEqual(API_KEY.make(), key);
  });

  it('are distinguished from mistyped ones by their checksum, wherever the mistake is', () => {
    const key = API_KEY.make();
    for (let at = 4; at < key.length; at++) {
      const other = key[at] === 'A' ? 'B' : 'A';
      assert.equal(API_KEY.isOne(key.slice(0, at) + other + key.slice(at + 1)), false, `character ${at}`);
    }
    for (const text of [
      '',
      'hlk_',
      key.slice(1),
      key.slice(0, -1),
      `${key}x`,
      key.replace('hlk_', 'HLK_'),
      `${key}\n`,
    ]) {
      assert.equal(API_KEY.isOne(text), false, text);
    }
  });

  it('are stored as SHA-256', () => {
    assert.equal(hashSecret('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('of an account cannot do what only a platform or the operator can', () => {
    assert.deepEqual(
      SCOPES.filter((scope) => !ACCOUNT_SCOPES.includes(scope)),
      ['platform', 'admin'],
    );
  });
});

describe('versions', () => {
  const refused: [string, number, string][] = [
    ['v17.0', 410, 'version_withdrawn'],
    ['v1.0', 410, 'version_withdrawn'],
    ['v0.9', 410, 'version_withdrawn'],
    ['v18.1', 404, 'version_unknown'],
    ['v99.0', 404, 'version_unknown'],
    ['', 404, 'not_found'],
    ['events', 404, 'not_found'],
    ['v18', 404, 'not_found'],
    ['18.0', 404, 'not_found'],
    ['V18.0', 404, 'not_found'],
    ['v018.0', 404, 'not_found'],
    ['v18.0 ', 404, 'not_found'],
  ];
  it('that are current answer', () => {
    for (const version of VERSIONS) assert.equal(resolveVersion(version.name), version);
    assert.ok(VERSIONS.some(({ name }) => name === CURRENT_VERSION));
  });
  for (const [segment, status, code] of refused) {
    it(`"${segment}" is refused with ${status} ${code}, naming the current one`, () => {
      assert.throws(
        () => resolveVersion(segment),
        (error) => {
          assert.ok(error instanceof Problem);
          assert.deepEqual([error.status, error.code], [status, code]);
          assert.match(error.message, /v18\.0/);
          return true;
        },
      );
    });
  }
});

describe('target URLs', () => {
  const refused: [string, RegExp][] = [
    ['', /absolute URL/],
    ['example.com/hooks', /absolute URL/],
    ['/hooks', /absolute URL/],
    ['https://', /absolute URL/],
    ['ftp://example.com/', /https:\/\//],
    ['javascript:alert(1)', /https:\/\//],
    ['https://user@example.com/', /user name or password/],
    ['https://user:password@example.com/', /user name or password/],
    ['https://example.com/#part', /fragment/],
    [`https://example.com/${'x'.repeat(2_048)}`, /2048 characters/],
  ];
  for (const [text, detail] of refused) {
    it(`${text.slice(0, 50) || 'nothing'} is refused`, () => {
      const mistake = checkTargetUrl(text, false, policy);
      assert.match(mistake?.detail ?? '', detail);
      assert.equal(mistake?.insecure, false);
    });
  }
  it('over plain http are refused as insecure, unless the installation allows them', () => {
    const mistake = checkTargetUrl('http://example.com/', false, policy);
    assert.equal(mistake?.insecure, true);
    assert.match(mistake?.detail ?? '', /must begin with https:\/\//);
    assert.equal(checkTargetUrl('http://example.com/', true, policy), undefined);
    assert.match(checkTargetUrl('http://a:b@example.com/', true, policy)?.detail ?? '', /password/);
  });
  for (const text of [
    'https://example.com',
    'HTTPS://EXAMPLE.COM:8443/a?b=c',
    'https://xn--bcher-kva.example/',
  ]) {
    it(`${text} is accepted`, () => assert.equal(checkTargetUrl(text, false, policy), undefined));
  }
});

describe('event kinds', () => {
  it('are found by their exact names', () => {
    assert.equal(findEventKind('purchase')?.name, 'purchase');
    for (const name of ['Purchase', 'purchase ', '', '*', '__proto__']) {
      assert.equal(findEventKind(name), undefined);
    }
    assert.equal(new Set(EVENT_KINDS.map(({ name }) => name)).size, EVENT_KINDS.length);
  });
  it('that Hookline emits itself have reserved names, so that no account can have one', () => {
    const emitted = EVENT_KINDS.filter((kind) => kind.emitted);
    assert.ok(emitted.length > 0);
    for (const { name } of emitted) assert.ok(isReservedEventKindName(name), name);
    assert.ok(isReservedEventKindName('purchase') && !isReservedEventKindName('purchase.refunded'));
  });
  it('match where an endpoint names them, or all', () => {
    assert.ok(matchesKind(['other', 'purchase'], 'purchase'));
    assert.ok(matchesKind(['*'], 'purchase'));
    assert.ok(!matchesKind(['purchases'], 'purchase'));
    assert.ok(!matchesKind([], 'purchase'));
  });
  it('that are not known are named one by one', () => {
    assert.deepEqual(checkEventKinds(['purchase', '*'], []), []);
    assert.deepEqual(
      checkEventKinds(['a', 'purchase', 'b'], []).map(({ pointer }) => pointer),
      ['/event_kinds/0', '/event_kinds/2'],
    );
  });
});

describe('the release', () => {
  it('is that of package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
    assert.equal(RELEASE, version);
  });
});
