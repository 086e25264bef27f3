import { createHash, hash, randomBytes, X509Certificate } from 'node:crypto';
import { Integer, OctetString, type Sequence } from 'asn1js';
import {
  AlgorithmIdentifier,
  Certificate,
  type ExtKeyUsage,
  MessageImprint,
  SignedData,
  TimeStampReq,
  TimeStampResp,
  TSTInfo,
} from 'pkijs';
import { asSigned } from './checkpoint.js';

/** Object identifiers of RFC 3161, RFC 5652, RFC 5035 and RFC 5280. */
const SHA256 = '2.16.840.1.101.3.4.2.1';
const SIGNED_DATA = '1.2.840.113549.1.7.2';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
const EXTENDED_KEY_USAGE = '2.5.29.37';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
/** Hashes with which a token may name the certificate of who signed it. */
const HASHES: Record<string, string> = {
  [SHA256]: 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
};

const NONCE_BYTES = 8;
/** The most that a response of a service may have, bytes: it holds a few certificates. */
export const MAX_TIMESTAMP_BYTES = 32 * 1024;

/** The response of a time-stamping service is no time stamp of a checkpoint. */
export class TimestampError extends Error {
  override readonly name = 'TimestampError';
}

/** A time stamp that holds. */
export interface VerifiedTimestamp {
  at: Date;
  /** Owner of the certificate that it is signed with. */
  by: string;
}

/**
 * Asks for a time stamp of a checkpoint as the log signed it (RFC 3161, section 2.4.1).
 *
 * @returns the body of the request, and what the response must repeat
 */
export function timestampQuery(note: string): { body: Buffer; nonce: Buffer } {
  const nonce = randomBytes(NONCE_BYTES);
  // An INTEGER in its shortest form, and positive.
  nonce[0] = ((nonce[0] ?? 0) & 0x3f) | 0x40;
  const query = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: SHA256 }),
      hashedMessage: new OctetString({ valueHex: digestOf(note) }),
    }),
    nonce: new Integer({ valueHex: nonce }),
    certReq: true,
  });
  return { body: Buffer.from(query.toSchema().toBER()), nonce };
}

/**
 * Checks what a service answered to {@link timestampQuery}. Whether the service is to be trusted is for others to say:
 * {@link verifyTimestamp}.
 *
 * @returns the time in it @throws TimestampError
 */
export async function checkAnswer(answer: Buffer, note: string, nonce: Buffer): Promise<Date> {
  const { signed, info } = readAnswer(answer, note);
  if (!info.nonce || !Buffer.from(info.nonce.valueBlock.valueHexView).equals(nonce))
    throw new TimestampError('the time stamp is the response to another request');
  await requireSigned(signed, note);
  return info.genTime;
}

/**
 * Checks a time stamp of a checkpoint: its signature, that its certificate is one for time stamps, and that one of the
 * authorities vouches for that.
 *
 * @param answer of the service, DER @param authorities certificates, PEM
 * @throws TimestampError
 */
export async function verifyTimestamp(
  answer: Buffer,
  note: string,
  authorities: string,
): Promise<VerifiedTimestamp> {
  const trusted = readCertificates(authorities);
  const { signed, info } = readAnswer(answer, note);
  const signer = await requireSigned(signed, note, trusted);
  const usage = signer.extensions?.find(({ extnID }) => extnID === EXTENDED_KEY_USAGE);
  const { keyPurposes = [] } = (usage?.parsedValue ?? {}) as Partial<ExtKeyUsage>;
  // RFC 3161, section 2.3: for this purpose alone, and critical.
  if (!usage?.critical || keyPurposes.length !== 1 || keyPurposes[0] !== TIME_STAMPING)
    throw new TimestampError('the certificate of the time stamp is not one for time stamps');
  const certificate = new X509Certificate(Buffer.from(signer.toSchema().toBER()));
  if (!namesCertificate(signed, certificate.raw))
    throw new TimestampError('the time stamp names another certificate than the one that it is signed with');
  return { at: info.genTime, by: certificate.subject.replaceAll('\n', ', ') };
}

function digestOf(note: string): Buffer {
  return createHash('sha256').update(asSigned(note)).digest();
}

/** The token in a response, which is of the checkpoint; nothing is verified yet. */
function readAnswer(answer: Buffer, note: string): { signed: SignedData; info: TSTInfo } {
  if (answer.length > MAX_TIMESTAMP_BYTES) throw new TimestampError('the time stamp is too long');
  const { response, signed, info } = parse(answer);
  const { status, statusStrings } = response.status;
  if (status !== 0 && status !== 1) {
    const why = statusStrings?.map(({ valueBlock }) => valueBlock.value).join('; ');
    throw new TimestampError(`the service granted no time stamp: status ${status}${why ? ` (${why})` : ''}`);
  }
  if (!signed || !info) throw new TimestampError('the response of the service has no time stamp');
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  const isOfNote =
    hashAlgorithm.algorithmId === SHA256 &&
    Buffer.from(hashedMessage.valueBlock.valueHexView).equals(digestOf(note));
  if (!isOfNote) throw new TimestampError('the time stamp is of something else than the checkpoint');
  return { signed, info };
}

function parse(answer: Buffer): { response: TimeStampResp; signed?: SignedData; info?: TSTInfo } {
  try {
    const response = TimeStampResp.fromBER(answer);
    const { timeStampToken: token } = response;
    if (token?.contentType !== SIGNED_DATA) return { response };
    const signed = new SignedData({ schema: token.content });
    const { eContentType, eContent } = signed.encapContentInfo;
    if (eContentType !== TST_INFO || !eContent) return { response };
    return { response, signed, info: TSTInfo.fromBER(eContent.getValue()) };
  } catch (error) {
    throw new TimestampError('the response of the service is not a time stamp', { cause: error });
  }
}

/** @param trusted absent: whoever has signed it @returns the certificate that it is signed with */
async function requireSigned(
  signed: SignedData,
  note: string,
  trusted?: readonly Certificate[],
): Promise<Certificate> {
  if (signed.signerInfos.length !== 1) throw new TimestampError('the time stamp must have one signature');
  const bytes = Buffer.from(asSigned(note));
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const chain = trusted ? { checkChain: true, trustedCerts: [...trusted] } : { checkChain: false };
  try {
    const result = await signed.verify({ signer: 0, data, ...chain, extendedMode: true });
    if (result.signatureVerified && result.signerCertificate) return result.signerCertificate;
  } catch (error) {
    const why = error instanceof Error ? `: ${error.message}` : '';
    throw new TimestampError(`the signature of the time stamp does not hold${why}`, { cause: error });
  }
  throw new TimestampError('the signature of the time stamp does not hold');
}

/**
 * Whether a token names, under its signature, the certificate that it is signed with (RFC 5816; RFC 2634 before it).
 */
function namesCertificate(signed: SignedData, certificate: Buffer): boolean {
  const attributes = signed.signerInfos[0]?.signedAttrs?.attributes ?? [];
  for (const { type, values } of attributes) {
    if (type !== SIGNING_CERTIFICATE && type !== SIGNING_CERTIFICATE_V2) continue;
    const [certs] = (values[0] as Sequence).valueBlock.value as Sequence[];
    const [first] = (certs?.valueBlock.value ?? []) as Sequence[];
    const [algorithm, ...rest] = first?.valueBlock.value ?? [];
    const isNamed = !(algorithm instanceof OctetString);
    const digest = isNamed ? rest[0] : algorithm;
    if (!(digest instanceof OctetString)) return false;
    const oid = isNamed ? new AlgorithmIdentifier({ schema: algorithm }).algorithmId : SHA256;
    const name = type === SIGNING_CERTIFICATE ? 'sha1' : HASHES[oid];
    if (name === undefined) return false;
    return hash(name, certificate, 'buffer').equals(Buffer.from(digest.valueBlock.valueHexView));
  }
  return false;
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

function readCertificates(pem: string): Certificate[] {
  const blocks = pem.match(PEM) ?? [];
  if (blocks.length === 0) throw new TimestampError('the authorities must be certificates, as PEM');
  try {
    return blocks.map((block) => Certificate.fromBER(new X509Certificate(block).raw));
  } catch (error) {
    throw new TimestampError('a certificate of the authorities cannot be read', { cause: error });
  }
}
