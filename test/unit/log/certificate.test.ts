import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { consistencyProof } from '../../../packages/tlog/src/index.js';
import { type Certificate, verifyCertificate } from '../../../src/domain/log/certificate.js';
import { statementOf } from '../../../src/domain/log/statement.js';
import { CertificateError } from '../../../src/domain/log/strict-text.js';
import { sampleLog } from '../../support/outside/certificates.js';

const SIZE = 300;
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

type Json = Record<string, unknown>;

/** Every place in a value: the object that has it, and its name there. */
function placesIn(value: unknown): [Json, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]): [Json, string][] => [
    [value as Json, name],
    ...placesIn(member),
  ]);
}

/** Another value of the same type, by a number from 0 to 2^27. */
function mutate(value: unknown, by: number): unknown {
  if (typeof value === 'number') return by % 2 ? value + 1 : value - 1;
  if (typeof value === 'string' && value !== '') {
    const units = [...value];
    const at = by % units.length;
    units[at] = String.fromCodePoint((units[at]?.codePointAt(0) ?? 0) ^ (1 << ((by >> 8) % 7)));
    return units.join('');
  }
  if (Array.isArray(value) && value.length > 1) {
    const at = by % (value.length - 1);
    return [...value.slice(0, at), value[at + 1], value[at], ...value.slice(at + 2)];
  }
  return by;
}

describe('a certificate', () => {
  let log: Awaited<ReturnType<typeof sampleLog>>;
  let certificate: Certificate;
  let text: string;
  let opening: string;

  before(async () => {
    log = await sampleLog(SIZE);
    certificate = await log.certificate(17);
    text = JSON.stringify(certificate);
    opening = JSON.stringify(log.opening(17));
  });

  it('says what it proves and what not', () => {
    const evidence = { key: log.key, opening };
    assert.equal(
      statementOf(verifyCertificate(text, evidence), evidence),
      `This proves that when the log hooks.example.com/log signed its checkpoint of 300 records, number 17 was this record of delivery ${certificate.record.delivery_id} (exhausted after 3 attempts), the details in the certificate, where each attempt went and what came back, are what was recorded, and that the payload given is what was recorded; it does not prove that the operator recorded the truth before that checkpoint, or what the subscriber did with the event.`,
    );
    assert.match(
      statementOf(verifyCertificate(text), {}),
      /or that the key in the certificate is the operator's/,
    );
  });

  it('may be written in another order and with other white space', () => {
    const other = JSON.stringify(Object.fromEntries(Object.entries(certificate).reverse()), null, '\t');
    assert.equal(verifyCertificate(other).index, 17);
    assert.equal(verifyCertificate(text.replaceAll('—', '\\u2014')).index, 17);
  });

  it('is refused with another value at any place, one more and one less, with a part of another, in bits of the text, and cut off', async () => {
    const other = await log.certificate(18);
    const older = await log.certificate(17, SIZE - 1);
    const stranger = await (await sampleLog(SIZE)).certificate(17);
    const at = (place: number) => {
      const copy = structuredClone(certificate);
      const [object, name] = placesIn(copy)[place] as [Json, string];
      return { copy, object, name };
    };
    const places = placesIn(certificate).map((_, place) => place);
    const parts = ['record', 'leaf_index', 'inclusion_proof', 'checkpoint', 'log_key'] as const;
    const random = (below: number) => Math.floor(Math.random() * below);
    const everyAbout = (step: number) =>
      Array.from({ length: Math.floor(text.length / step) }, (_, index) => index * step + random(step));
    const mutated: string[][] = [
      ...[1, 2, 3].map(() =>
        places.map((place) => {
          const { copy, object, name } = at(place);
          object[name] = mutate(object[name], random(2 ** 27));
          return JSON.stringify(copy);
        }),
      ),
      places.map((place) => {
        const { copy, object, name } = at(place);
        if (Array.isArray(object)) object.splice(Number(name), 1);
        else delete object[name];
        return JSON.stringify(copy);
      }),
      places.map((place) => {
        const { copy, object } = at(place);
        if (Array.isArray(object)) object.push(object[random(object.length)]);
        else object[`x${place}`] = place;
        return JSON.stringify(copy);
      }),
      // Of another record, of an older log, of another log.
      [other, older, stranger].flatMap((from) =>
        parts.map((name) => JSON.stringify({ ...certificate, [name]: from[name] })),
      ),
      // In base64 that stands for the same bytes: the last letter before the padding has bits that mean nothing.
      [...text.matchAll(/[\w+/](?==)/g)].map(({ index }) => {
        const letter = BASE64.indexOf(text[index] ?? '');
        return `${text.slice(0, index)}${BASE64[letter ^ 1]}${text.slice(index + 1)}`;
      }),
      everyAbout(9).map((byte) => {
        const bytes = Buffer.from(text);
        bytes[byte] = (bytes[byte] as number) ^ (1 << random(8));
        return bytes.toString();
      }),
      everyAbout(23).map((length) => text.slice(0, length)),
    ];
    // Without its details it says less, and holds.
    const { details, ...bare } = certificate;
    assert.ok(details);
    for (const each of mutated) {
      const altered = each.filter((one) => {
        const value = parse(one);
        return !isDeepStrictEqual(value, certificate) && !isDeepStrictEqual(value, bare);
      });
      assert.ok(altered.length > 0);
      for (const one of altered) assert.throws(() => verifyCertificate(one), CertificateError, one);
    }
  });

  it('is refused where readers of JSON could differ', () => {
    const cases = [
      text.replace('"leaf_index":17', '"leaf_index":17.0'),
      text.replace('"leaf_index":17', '"leaf_index":1.7e1'),
      text.replace('"leaf_index":17', '"leaf_index":16,"leaf_index":17'),
      text.replace('"status":"exhausted"', '"status":"delivered","status":"exhausted"'),
      text.replace('"status":', '"__proto__":{"status":"delivered"},"status":'),
      text.replace('{"type"', '{"__proto__":{},"type"'),
      text.replace('{"type"', '/* delivered */{"type"'),
    ];
    for (const each of cases) {
      assert.notEqual(each, text);
      assert.throws(() => verifyCertificate(each), CertificateError, each);
    }
  });

  it('is refused if it is nested more deeply than can be read', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    assert.throws(() => verifyCertificate(deep), /nested too deeply/);
  });

  it('is refused with the key of another log, and with another payload or salt', async () => {
    const stranger = await sampleLog(3);
    assert.throws(() => verifyCertificate(text, { key: stranger.key }), /another key/);
    const given = log.opening(17);
    const openings = [
      { ...given, payload: given.payload.replace('1001', '1002') },
      { ...given, salt: stranger.opening(1).salt },
      { ...given, salt: given.salt.slice(0, 8) },
      { ...given, delivery_id: log.opening(16).delivery_id },
      { ...given, more: true },
    ];
    for (const each of openings)
      assert.throws(() => verifyCertificate(text, { opening: JSON.stringify(each) }), CertificateError);
  });

  it('is linked to another checkpoint of the log by a consistency proof', async () => {
    const older = await log.certificate(17, 100);
    const proof = (await consistencyProof(100, SIZE, log.tree.read)).map((hash) => hash.toString('base64'));
    const consistency = JSON.stringify({ from: 100, to: SIZE, proof });
    for (const [own, other] of [
      [older, SIZE],
      [certificate, 100],
    ] as const) {
      const checkpoint = await log.checkpoint(other);
      const evidence = { checkpoint, consistency };
      const verified = verifyCertificate(JSON.stringify(own), evidence);
      assert.equal(verified.linkedTo, other);
      assert.match(statementOf(verified, evidence), new RegExp(`that of the checkpoint given, of ${other};`));
      assert.throws(
        () => verifyCertificate(JSON.stringify(own), { checkpoint }),
        /GET \/v18\.0\/log\/proofs\?from=100&to=300/,
      );
      const wrong = JSON.stringify({ from: 100, to: SIZE, proof: proof.slice(1) });
      assert.throws(
        () => verifyCertificate(JSON.stringify(own), { checkpoint, consistency: wrong }),
        /does not lead from one checkpoint to the other/,
      );
    }
    assert.equal(verifyCertificate(text, { checkpoint: certificate.checkpoint }).linkedTo, SIZE);
  });

  it('has less than 4 KiB, and with the details of 10 attempts 6 KiB, in a log of a million records', async () => {
    const { details, ...large } = await (await sampleLog(2, 10)).certificate(0);
    const inclusion_proof = Array(20).fill(large.inclusion_proof[0] ?? '');
    const bytes = Buffer.byteLength(JSON.stringify({ ...large, inclusion_proof }));
    const opened = Buffer.byteLength(JSON.stringify({ ...large, details, inclusion_proof }));
    assert.ok(bytes < 4_096, `${bytes} bytes`);
    assert.ok(opened < 6_144, `${opened} bytes`);
  });

  it('opens what its record commits to, and is refused where that is another', () => {
    const { details, ...bare } = certificate;
    assert.ok(details);
    assert.equal(verifyCertificate(text).hasDetails, true);
    assert.equal(verifyCertificate(JSON.stringify(bare)).hasDetails, false);
    for (const [from, to] of [
      ['/hooks?tenant=7', '/hooks?tenant=8'],
      ['"address":"192.0.2.1"', '"address":"192.0.2.2"'],
      ['"response_bytes":4', '"response_bytes":5'],
      ['"response_snippet":"nope"', '"response_snippet":"yes!"'],
      ['"reason":"Attempt 3', '"reason":"Attempt 2'],
      [details.salt, log.opening(17).salt],
    ] as const) {
      const other = text.replace(from, to);
      assert.notEqual(other, text);
      assert.throws(() => verifyCertificate(other), /details are not those/, to);
    }
    const short = { ...certificate, details: { ...details, salt: details.salt.slice(0, 8) } };
    assert.throws(() => verifyCertificate(JSON.stringify(short)), /must be 32 bytes/);
    const older = { ...certificate, record: { ...certificate.record, format: 1 } };
    assert.throws(() => verifyCertificate(JSON.stringify(older)), /record\.format/);
  });
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
