import { z } from 'zod';
import {
  type Checkpoint,
  cosignaturesBy,
  decodeBase64,
  HASH_BYTES,
  isConsistent,
  isIncluded,
  leafHash,
  NoteError,
  type NoteVerifier,
  openCheckpoint,
  readVerifierKey,
  readWitnessKey,
} from '../../../packages/tlog/src/index.js';
import { DELIVERY_ID_PATTERN } from '../basics/delivery-id.js';
import { idPattern } from '../basics/ids.js';
import { CHANGE_OUTCOMES } from '../change/change.js';
import { SHOWN_STATUSES } from '../delivery/delivery.js';
import { CURRENT_VERSION } from '../http/versions.js';
import { commitTo } from '../privacy/data-key.js';
import { canonicalJson } from '../records/canonical-json.js';
import { RECORD_FORMAT } from '../records/record.js';
import { CertificateError, readStrictly } from './strict-text.js';

/** Version of the form of certificates. */
export const CERTIFICATE_FORMAT = 2;

/** A hash; or a salt: a short one would let somebody look for a value and a salt that make the same commitment. */
const hashSchema = z
  .string()
  .refine((text) => decodeBase64(text)?.length === HASH_BYTES, 'must be 32 bytes in base64');
/** Hashes of a proof. A log that could be counted has no longer one. */
const proofSchema = z.array(hashSchema).max(64);

/** Proof of one record in the log. It names only those fields of the record that are used. */
export const certificateSchema = z.strictObject({
  type: z.literal('certificate'),
  format: z.literal(CERTIFICATE_FORMAT),
  record: z
    .looseObject({
      format: z.literal(RECORD_FORMAT),
      type: z.enum(['delivery', 'change', 'void']),
      account_id: z.string().regex(idPattern('account')).optional(),
      sequence: z.int().optional(),
      first: z.int().optional(),
      last: z.int().optional(),
      delivery_id: z.string().regex(DELIVERY_ID_PATTERN).optional(),
      event_id: z.string().regex(idPattern('event')).optional(),
      endpoint_id: z.string().regex(idPattern('endpoint')).optional(),
      status: z.enum(SHOWN_STATUSES).optional(),
      attempts: z.array(z.looseObject({ number: z.number(), lost_tries: z.number().optional() })).optional(),
      change_id: z.string().regex(idPattern('change')).optional(),
      outcome: z.enum(CHANGE_OUTCOMES).optional(),
      payload_commitment: z.string().optional(),
      details_commitment: z.string().optional(),
    })
    .describe('The record. The leaf of the log is its canonical JSON text (RFC 8785)'),
  details: z
    .strictObject({
      value: z
        .record(z.string(), z.unknown())
        .describe(
          'For a delivery: the request and response of each attempt. For a change: the states before and after, its address and reason',
        ),
      salt: hashSchema.describe(
        'Base64. The record’s details_commitment is HMAC-SHA256 of the canonical JSON text (RFC 8785) of the value with this key',
      ),
    })
    .optional()
    .describe(
      'Data that the record commits to and does not contain. Absent if it was not requested, and if it was erased',
    ),
  leaf_index: z.int().min(0).describe('Number of the record in the log, from 0'),
  inclusion_proof: proofSchema.describe(
    'Proof by RFC 6962, section 2.1.1: hashes in base64, the lowest first',
  ),
  checkpoint: z.string().describe('Checkpoint of the log: a signed note (C2SP tlog-checkpoint)'),
  timestamp: z
    .string()
    .refine((text) => decodeBase64(text) !== undefined, 'must be base64')
    .optional()
    .describe(
      'Base64. A time stamp (RFC 3161, TimeStampResp) of the checkpoint as the log signed it, without cosignatures; absent if there is none',
    ),
  log_key: z.string().describe('Public key of the log, as Go’s golang.org/x/mod/sumdb/note reads it'),
});

/** Fields of a record that say what it is of, and how that ended. */
const NAMED_BY = {
  delivery: ['delivery_id', 'status'],
  change: ['change_id', 'outcome'],
  void: ['first', 'last'],
} as const;

export type Certificate = z.output<typeof certificateSchema>;

/** Opening of a commitment: with it, everybody can see that a payload is the one that a record commits to. */
export const openingSchema = z.strictObject({
  type: z.literal('opening'),
  format: z.literal(CERTIFICATE_FORMAT),
  delivery_id: z.string(),
  payload: z.string().describe('The payload, as it was delivered'),
  salt: hashSchema.describe(
    'Base64. The record’s payload_commitment is HMAC-SHA256 of the payload with this key',
  ),
});

export type Opening = z.output<typeof openingSchema>;

/** Proof that the log of one checkpoint is the beginning of the log of another. */
export const consistencySchema = z.strictObject({
  from: z.int().min(1).describe('Leaves of the older log'),
  to: z.int().min(1).describe('Leaves of the newer log'),
  proof: proofSchema.describe('Proof by RFC 6962, section 2.1.2: hashes in base64'),
});

/** Evidence besides itself that a certificate is checked against. Texts of files. */
export interface Evidence {
  /** The log's key, from elsewhere. Absent: the one in the certificate. */
  key?: string | undefined;
  /** An {@link Opening}. */
  opening?: string | undefined;
  /** A checkpoint of the log, from elsewhere. */
  checkpoint?: string | undefined;
  /** A proof that links that checkpoint to the certificate's. Not needed if they are of one size. */
  consistency?: string | undefined;
  /** Public keys of witnesses, each of which must have cosigned the certificate's checkpoint. */
  witnesses?: readonly string[] | undefined;
}

/** A certificate that holds. */
export interface VerifiedCertificate {
  record: Certificate['record'];
  /** Whether the certificate has the details of the record, which hold then. */
  hasDetails: boolean;
  index: number;
  /** Checkpoint of the log in the certificate. */
  checkpoint: Checkpoint;
  /**
   * The signed note that it was read from, and what a time-stamping service answered about that, base64: nothing of it
   * is verified.
   */
  note: string;
  timestamp: string | undefined;
  key: NoteVerifier;
  /** Size of the log at the other checkpoint, if one was given. */
  linkedTo: number | undefined;
  /** The witnesses that were demanded, and when each cosigned. */
  witnessed: { name: string; at: Date }[];
}

/** Checks a certificate; no server is asked. @param text JSON @throws CertificateError that says what is wrong */
export function verifyCertificate(text: string, evidence: Evidence = {}): VerifiedCertificate {
  const certificate = readStrictly('the certificate', certificateSchema, text);
  const { record, leaf_index: index } = certificate;
  if (NAMED_BY[record.type].some((field) => record[field] === undefined))
    throw new CertificateError(`the record does not have ${NAMED_BY[record.type].join(' and ')}`);
  if (evidence.key !== undefined && evidence.key.trim() !== certificate.log_key)
    throw new CertificateError('the certificate is of a log with another key than the one given');
  try {
    const key = readVerifierKey(certificate.log_key);
    const checkpoint = openCheckpoint(certificate.checkpoint, [key]);
    const { size, root } = checkpoint;
    if (
      !isIncluded(leafHash(canonicalJson(record)), index, size, root, toHashes(certificate.inclusion_proof))
    )
      throw new CertificateError('the log does not hold this record at this place');
    checkDetails(certificate);
    if (evidence.opening !== undefined)
      checkOpening(record, readStrictly('the opening', openingSchema, evidence.opening));
    const linkedTo = evidence.checkpoint === undefined ? undefined : linkTo(checkpoint, key, evidence);
    const witnessed = (evidence.witnesses ?? []).map((text) => witnessedBy(text, certificate.checkpoint));
    const hasDetails = certificate.details !== undefined;
    const { checkpoint: note, timestamp } = certificate;
    return { record, hasDetails, index, checkpoint, note, timestamp, key, linkedTo, witnessed };
  } catch (error) {
    if (error instanceof NoteError) throw new CertificateError(error.message, { cause: error });
    throw error;
  }
}

function witnessedBy(text: string, note: string): { name: string; at: Date } {
  const witness = readWitnessKey(text.trim());
  const [cosigned] = cosignaturesBy(witness, note, note);
  if (!cosigned) throw new CertificateError(`the witness ${witness.name} has not cosigned the checkpoint`);
  return { name: witness.name, at: cosigned.at };
}

function checkDetails({ record, details }: Certificate): void {
  if (!details) return;
  const text = canonicalJson(details.value);
  if (commitTo(Buffer.from(details.salt, 'base64'), text) !== record.details_commitment)
    throw new CertificateError('the details are not those that the record commits to');
}

function checkOpening(record: Certificate['record'], { delivery_id, payload, salt }: Opening): void {
  if (delivery_id !== record.delivery_id)
    throw new CertificateError('the opening is of another delivery than the certificate');
  if (commitTo(Buffer.from(salt, 'base64'), payload) !== record.payload_commitment)
    throw new CertificateError('the payload is not the one that the record commits to');
}

/** Whether the log in the certificate and that of another checkpoint are one. @returns size of the other */
function linkTo(own: Checkpoint, key: NoteVerifier, { checkpoint = '', consistency }: Evidence): number {
  const other = openCheckpoint(checkpoint, [key]);
  const [older, newer] = other.size <= own.size ? [other, own] : [own, other];
  if (older.size === newer.size) {
    if (!older.root.equals(newer.root))
      throw new CertificateError(
        'the log signed two different trees of the same size: its operator has lied',
      );
    return other.size;
  }
  const wanted = `GET /${CURRENT_VERSION}/log/proofs?from=${older.size}&to=${newer.size}`;
  if (older.size === 0) return other.size;
  if (consistency === undefined)
    throw new CertificateError(
      `the checkpoint given is of another size: give a consistency proof, too, which ${wanted} has`,
    );
  const { from, to, proof } = readStrictly('the consistency proof', consistencySchema, consistency);
  if (from !== older.size || to !== newer.size)
    throw new CertificateError(`the consistency proof is for other sizes: the one needed is ${wanted}`);
  if (!isConsistent(older, newer, toHashes(proof)))
    throw new CertificateError('the consistency proof does not lead from one checkpoint to the other');
  return other.size;
}

function toHashes(proof: readonly string[]): Buffer[] {
  return proof.map((each) => Buffer.from(each, 'base64'));
}
