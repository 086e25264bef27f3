import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Evidence, type VerifiedCertificate, verifyCertificate } from '../domain/log/certificate.js';
import { statementOf } from '../domain/log/statement.js';
import { CertificateError } from '../domain/log/strict-text.js';
import { missingIn, type NumberRange, rangeText, sharedWith, toRanges } from '../domain/sequence/ranges.js';
import { print } from './client/terminal.js';

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
  const certificate = await certificateIn(path);
  const given = await Promise.all(
    [payload, checkpoint, consistency, timestampCa].map((file) => file && readFile(file, 'utf8')),
  );
  const [opening, other, proof, authorities] = given;
  const evidence: Evidence = { key, opening, checkpoint: other, consistency: proof, witnesses: witness };
  const verified = verifyCertificate(certificate, evidence);
  const stamped = authorities === undefined ? undefined : await stampOf(verified, authorities);
  print(statementOf({ ...verified, stamped }, evidence));
}

/**
 * The text of a certificate's file.
 *
 * @throws CertificateError if it is the error that the server responded with instead of a certificate: the error's text
 */
async function certificateIn(path: string): Promise<string> {
  const text = await readFile(path, 'utf8');
  const { success, data } = problem.safeParse(parsed(text));
  if (success)
    throw new CertificateError(`${path} has no certificate, but an error of the server: ${data.detail}`);
  return text;
}

/** An error of the API, as far as it matters here. */
const problem = z.object({ status: z.number(), title: z.string(), detail: z.string() });

/** The value of a JSON text; `undefined` if it is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function stampOf({ note, timestamp }: VerifiedCertificate, authorities: string) {
  if (timestamp === undefined)
    throw new CertificateError('the certificate has no time stamp of its checkpoint');
  const { verifyTimestamp } = await import('../../packages/tlog/src/timestamp.js');
  return verifyTimestamp(Buffer.from(timestamp, 'base64'), note, authorities);
}

/**
 * Checks certificates, and that together they have every number of the account's sequence from their lowest to their
 * highest, each for one event.
 *
 * @returns whether they have; what was found is printed @throws Error if one of them does not hold
 */
export async function verifyComplete(
  paths: readonly string[],
  { key, witness }: VerifyOptions,
): Promise<boolean> {
  const ranges: NumberRange[] = [];
  const voids: NumberRange[] = [];
  /** Events by their numbers. */
  const events = new Map<number, Set<string>>();
  const accounts = new Set<string | undefined>();
  for (const path of paths) {
    const { record } = verifyCertificate(await certificateIn(path), { key, witnesses: witness });
    const { type, account_id, event_id, sequence, first = sequence, last = sequence } = record;
    if (first === undefined || last === undefined)
      throw new Error(`${path} is of a ${type} without a number: leave it out.`);
    accounts.add(account_id);
    ranges.push({ first, last });
    if (type === 'void') voids.push({ first, last });
    else events.set(first, (events.get(first) ?? new Set()).add(String(event_id)));
  }
  if (accounts.size > 1) throw new Error('The certificates are of several accounts: check each by itself.');
  const range = {
    first: Math.min(...ranges.map(({ first }) => first)),
    last: Math.max(...ranges.map(({ last }) => last)),
  };
  const missing = missingIn(range, ranges);
  print(
    missing.length === 0
      ? `All numbers from ${range.first} to ${range.last} are there, each in the log.`
      : `Of the numbers from ${range.first} to ${range.last} there is no certificate of ${missing.map(rangeText).join(', ')}.`,
  );
  const twice = [...events].filter(([, ids]) => ids.size > 1);
  for (const [number, ids] of twice)
    print(`Number ${number} is that of several events: ${[...ids].join(', ')}.`);
  const contradicted = voids.flatMap((one) => sharedWith(one, toRanges(events.keys())));
  for (const range of contradicted) print(`Void, but an event has it: ${rangeText(range)}.`);
  return missing.length + twice.length + contradicted.length === 0;
}
