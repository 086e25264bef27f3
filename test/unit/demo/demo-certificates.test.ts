import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import {
  type CertificateAuthority,
  createAuthority,
  issueServerCertificate,
  loadOrCreateAuthority,
  type ServerCertificate,
  trustedFile,
} from '../../../src/demo/certificates.js';
import { folderOfEach } from '../../support/folder.js';
import { startReceiver } from '../../support/receiver.js';

const HOUR_MS = 60 * 60 * 1000;
const LOCAL = { dns: ['localhost'], ips: ['127.0.0.1'] };

describe('demo certificates', () => {
  let ca: CertificateAuthority;

  before(async () => {
    ca = await createAuthority('Test authority');
  });

  /** GETs `https://<host>` from a server with this certificate, by Node's own checks. */
  async function visit(certificate: ServerCertificate, host: string, trusted?: string): Promise<number> {
    const receiver = await startReceiver({ certificate });
    try {
      const request = get(`https://${host}:${receiver.port}/`, {
        agent: false,
        ...(trusted && { ca: [trusted] }),
      });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode ?? 0;
    } finally {
      await receiver.close();
    }
  }

  for (const host of ['localhost', '127.0.0.1']) {
    it(`are accepted for https://${host} by a client that trusts the authority`, async () => {
      assert.equal(await visit(await issueServerCertificate(ca, LOCAL), host, ca.cert), 200);
    });
  }

  for (const [what, other, code] of [
    ['does not know the authority', undefined, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['trusts another authority', 'Another authority', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['trusts another authority of the same name', 'Test authority', 'CERT_SIGNATURE_FAILURE'],
  ] as const)
    it(`are refused by a client that ${what}`, async () => {
      const certificate = await issueServerCertificate(ca, LOCAL);
      const trusted = other && (await createAuthority(other)).cert;
      await assert.rejects(visit(certificate, 'localhost', trusted), { code });
    });

  it('are refused when expired and before they begin', async () => {
    const now = Date.now();
    const expired = await issueServerCertificate(ca, LOCAL, {
      notBefore: new Date(now - 2 * HOUR_MS),
      notAfter: new Date(now - HOUR_MS),
    });
    await assert.rejects(visit(expired, 'localhost', ca.cert), { code: 'CERT_HAS_EXPIRED' });
    const early = await issueServerCertificate(ca, LOCAL, { notBefore: new Date(now + HOUR_MS) });
    await assert.rejects(visit(early, 'localhost', ca.cert), { code: 'CERT_NOT_YET_VALID' });
  });

  it('are accepted by clocks that are up to an hour behind', async () => {
    const server = await issueServerCertificate(ca, LOCAL);
    for (const { cert } of [ca, server])
      assert.ok(Date.parse(new X509Certificate(cert).validFrom) <= Date.now() - HOUR_MS);
  });

  it('are refused for a name or an address that they do not list', async () => {
    const nameOnly = await issueServerCertificate(ca, { dns: ['localhost'], ips: [] });
    await assert.rejects(visit(nameOnly, '127.0.0.1', ca.cert), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    const otherName = await issueServerCertificate(ca, { dns: ['hooks.example.com'], ips: [] });
    await assert.rejects(visit(otherName, 'localhost', ca.cert), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('are not authorities themselves, and do not outlive theirs', async () => {
    const authority = new X509Certificate(ca.cert);
    const server = new X509Certificate((await issueServerCertificate(ca, LOCAL)).cert);
    assert.equal(authority.ca, true);
    assert.equal(server.ca, false);
    assert.equal(server.validTo, authority.validTo);
  });

  it('can be put together with others in one file', async () => {
    const other = await createAuthority('Another authority');
    const certificate = await issueServerCertificate(ca, LOCAL);
    assert.equal(await visit(certificate, 'localhost', other.cert + ca.cert), 200);
  });

  describe('kept in a folder', () => {
    let folder: string;
    let keyFile: string;

    const inFolder = folderOfEach();
    beforeEach(() => {
      folder = inFolder('new');
      keyFile = join(folder, 'demo-ca-key.pem');
    });

    it('the authority is trusted beside those of another file, and alone without one', async () => {
      const kept = await loadOrCreateAuthority(folder);
      assert.equal(await trustedFile(kept, undefined, folder), kept.certFile);
      const own = join(folder, 'own.pem');
      await writeFile(own, ca.cert.trimEnd());
      const trusted = await readFile(await trustedFile(kept, own, folder), 'utf8');
      for (const authority of [ca, kept])
        assert.equal(await visit(await issueServerCertificate(authority, LOCAL), 'localhost', trusted), 200);
      await assert.rejects(trustedFile(kept, join(folder, 'missing.pem'), folder), { code: 'ENOENT' });
    });

    it('the authority is made once and used again', async () => {
      const first = await loadOrCreateAuthority(folder);
      assert.equal(first.certFile, join(folder, 'demo-ca.pem'));
      assert.equal(await readFile(first.certFile, 'utf8'), first.cert);
      assert.deepEqual(await loadOrCreateAuthority(folder), first);
    });

    it('the key is readable by its owner only, also where an old file was not', async () => {
      const first = await loadOrCreateAuthority(folder);
      assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
      await chmod(keyFile, 0o644);
      await writeFile(first.certFile, 'damaged');
      await loadOrCreateAuthority(folder);
      assert.equal((await stat(keyFile)).mode & 0o777, 0o600);
    });

    it('a key that does not belong to the certificate makes a new authority', async () => {
      const first = await loadOrCreateAuthority(folder);
      await writeFile(keyFile, ca.key);
      assert.notEqual((await loadOrCreateAuthority(folder)).cert, first.cert);
    });

    it('an authority about to expire is replaced', async () => {
      const first = await loadOrCreateAuthority(folder);
      const yearsOn = Date.parse(new X509Certificate(first.cert).validTo) - HOUR_MS;
      const realNow = Date.now;
      Date.now = () => yearsOn;
      try {
        assert.notEqual((await loadOrCreateAuthority(folder)).cert, first.cert);
      } finally {
        Date.now = realNow;
      }
    });
  });
});
