import { readFile } from 'node:fs/promises';
import { type Evidence, type VerifiedCertificate, verifyCertificate } from '../domain/log/certificate.js';
import { statementOf } from '../domain/log/statement.js';
import { CertificateError } from '../domain/log/strict-text.js';

/** Files that go with a certificate, and the log's key. */
export interface VerifyOptions {
  payload?: string | undefined;
  checkpoint?: string | undefined;
  consistency?: string | undefined;
  key?: string | undefined;
  witness?: string[] | undefined;
  'timestamp-ca'?: string | undefined;
}

/** Checks a certificate without any server, and says what it proves. @throws Error with the reason */
export async function verify(
  path: string,
  { payload, checkpoint, consistency, key, witness, 'timestamp-ca': timestampCa }: VerifyOptions,
): Promise<void> {
  if (consistency !== undefined && checkpoint === undefined)
    throw new Error('--consistency goes with --checkpoint: it links that checkpoint to the certificate.');
  const [certificate, ...given] = await Promise.all(
    [path, payload, checkpoint, consistency, timestampCa].map((file) => file && readFile(file, 'utf8')),
  );
  const [opening, other, proof, authorities] = given;
  const evidence: Evidence = { key, opening, checkpoint: other, consistency: proof, witnesses: witness };
  const verified = verifyCertificate(certificate ?? '', evidence);
  const stamped = authorities === undefined ? undefined : await stampOf(verified, authorities);
  // Not by `say`, whose module loads what talks to servers.
  process.stdout.write(`${statementOf({ ...verified, stamped }, evidence)}\n`);
}

async function stampOf({ note, timestamp }: VerifiedCertificate, authorities: string) {
  if (timestamp === undefined)
    throw new CertificateError('the certificate has no time stamp of its checkpoint');
  const { verifyTimestamp } = await import('../domain/log/timestamp.js');
  return verifyTimestamp(Buffer.from(timestamp, 'base64'), note, authorities);
}
