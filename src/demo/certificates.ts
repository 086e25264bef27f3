import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { UNITS } from '../domain/basics/duration.js';

/** Certificate of an HTTPS server: pass it as `{ cert, key }` to `https.createServer`. */
export interface ServerCertificate {
  /** PEM. */
  cert: string;
  /** PEM (PKCS #8), secret. */
  key: string;
}

/** A certificate authority of our own: a client that trusts `cert` trusts every certificate that it signs. */
export type CertificateAuthority = ServerCertificate;

const AUTHORITY_LIFE_MS = 730 * UNITS.d;
/** An authority with less life than this is replaced: a demo must not expire while it runs. */
const AUTHORITY_RESERVE_MS = 30 * UNITS.d;
/** How long before now certificates begin: clocks of those who check them may be behind. */
const BEGAN_MS = UNITS.h;
/** P-256 because it is made in milliseconds, where RSA takes up to a second. */
const KEY = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
/** `GeneralName` choices of RFC 5280, section 4.2.1.6, as `selfsigned` numbers them. */
const SAN = { dns: 2, ip: 7 } as const;

/**
 * Makes an authority that signs server certificates and nothing below them (path length 0), valid for two
 * years from now.
 *
 * @param commonName shown as the issuer; letters, digits, spaces and hyphens
 */
export async function createAuthority(commonName: string): Promise<CertificateAuthority> {
  const now = Date.now();
  const made = await generate([{ name: 'commonName', value: commonName }], {
    ...KEY,
    notBeforeDate: new Date(now - BEGAN_MS),
    notAfterDate: new Date(now + AUTHORITY_LIFE_MS),
    extensions: [
      { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return pem(made);
}

/**
 * Signs a certificate for a TLS server. It passes Node's default checks for a client that trusts `ca.cert`.
 *
 * @param names what it is good for; clients check one of them against the host of the URL, addresses without brackets
 * @param options.notBefore default: an hour ago
 * @param options.notAfter default: when the authority itself expires
 */
export async function issueServerCertificate(
  ca: CertificateAuthority,
  names: { dns: readonly string[]; ips: readonly string[] },
  options: { notBefore?: Date; notAfter?: Date } = {},
): Promise<ServerCertificate> {
  const made = await generate([{ name: 'commonName', value: 'Hookline local server' }], {
    ...KEY,
    ca,
    notBeforeDate: options.notBefore ?? new Date(Date.now() - BEGAN_MS),
    notAfterDate: options.notAfter ?? new Date(new X509Certificate(ca.cert).validTo),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...names.dns.map((value) => ({ type: SAN.dns, value })),
          ...names.ips.map((ip) => ({ type: SAN.ip, ip })),
        ],
      },
    ],
  });
  return pem(made);
}

/**
 * The authority kept in `folder` (`demo-ca.pem` and `demo-ca-key.pem`), made there if it is missing, damaged or
 * has less than 30 days to live. Keeping it lets a person trust it once.
 *
 * @returns the authority and `certFile`, the path of its certificate
 * @throws the file system's error when the folder cannot be read or written
 */
export async function loadOrCreateAuthority(
  folder: string,
): Promise<CertificateAuthority & { certFile: string }> {
  const certFile = join(folder, 'demo-ca.pem');
  const keyFile = join(folder, 'demo-ca-key.pem');
  const kept = { cert: await readIfPresent(certFile), key: await readIfPresent(keyFile) };
  if (isUsable(kept)) return { ...kept, certFile };

  const authority = await createAuthority('Hookline demo authority');
  await mkdir(folder, { recursive: true });
  // `mode` counts only for a file that does not exist yet, so an old key with wider rights must go first.
  await rm(keyFile, { force: true });
  await writeFile(keyFile, authority.key, { mode: 0o600 });
  await writeFile(certFile, authority.cert);
  return { ...authority, certFile };
}

/**
 * The PEM file of whom to trust: the authority, and those of another file, if one is named; then both are put together
 * in `folder`.
 *
 * @throws the file system's error when the other file cannot be read
 */
export async function trustedFile(
  authority: CertificateAuthority & { certFile: string },
  other: string | undefined,
  folder: string,
): Promise<string> {
  if (other === undefined) return authority.certFile;
  const file = join(folder, 'trusted.pem');
  await writeFile(file, `${(await readFile(other, 'utf8')).trimEnd()}\n${authority.cert}`);
  return file;
}

/** `selfsigned` leaves out the certificate's last newline, without which PEM files cannot be put together. */
function pem(made: { cert: string; private: string }): { cert: string; key: string } {
  return { cert: `${made.cert.trimEnd()}\n`, key: made.private };
}

/** The file's text, or nothing where there is no such file. */
async function readIfPresent(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function isUsable({ cert, key }: CertificateAuthority): boolean {
  try {
    const parsed = new X509Certificate(cert);
    const expiresAt = Date.parse(parsed.validTo);
    return (
      parsed.ca &&
      parsed.checkPrivateKey(createPrivateKey(key)) &&
      expiresAt > Date.now() + AUTHORITY_RESERVE_MS
    );
  } catch {
    return false; // not PEM at all
  }
}
