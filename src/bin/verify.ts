import { readFile } from 'node:fs/promises';
import { type Evidence, verifyCertificate } from '../domain/log/certificate.js';
import { statementOf } from '../domain/log/statement.js';

/** Files that go with a certificate, and the log's key. */
export interface VerifyOptions {
  payload?: string | undefined;
  checkpoint?: string | undefined;
  consistency?: string | undefined;
  key?: string | undefined;
  witness?: string[] | undefined;
}

/** Checks a certificate without any server, and says what it proves. @throws Error with the reason */
export async function verify(
  path: string,
  { payload, checkpoint, consistency, key, witness }: VerifyOptions,
): Promise<void> {
  if (consistency !== undefined && checkpoint === undefined)
    throw new Error('--consistency goes with --checkpoint: it links that checkpoint to the certificate.');
  const [certificate, ...given] = await Promise.all(
    [path, payload, checkpoint, consistency].map((file) => file && readFile(file, 'utf8')),
  );
  const [opening, other, proof] = given;
  const evidence: Evidence = { key, opening, checkpoint: other, consistency: proof, witnesses: witness };
  // Not by `say`, whose module loads what talks to servers.
  process.stdout.write(`${statementOf(verifyCertificate(certificate ?? '', evidence), evidence)}\n`);
}
