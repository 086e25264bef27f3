import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { decodeBase64 } from './base64.js';

/**
 * Algorithms by their numbers in a C2SP signed note: a signature of the text, and one with a time before it
 * (tlog-cosignature).
 */
const ED25519 = 1;
export const COSIGNATURE = 4;
type Algorithm = typeof ED25519 | typeof COSIGNATURE;
const KEY_BYTES = 32;
const ID_BYTES = 4;
/** Bytes that precede the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PRIVATE_PREFIX = 'PRIVATE+KEY+';
/** Begins a line with a signature: an em dash and a space. */
const SIGNATURE_MARK = '\u2014 ';

/** A note is not valid, or no known key has signed it. */
export class NoteError extends Error {
  override readonly name = 'NoteError';
}

/** Result of reading; `undefined` if it is not valid. */
export function ifValid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NoteError) return undefined;
    throw error;
  }
}

/** How a key signs: what it makes of a text, and whether something is that. */
interface Scheme {
  algorithm: Algorithm;
  sign(text: string, key: KeyObject): Buffer;
  isValid(text: string, signature: Uint8Array, key: KeyObject): boolean;
}

const PLAIN: Scheme = {
  algorithm: ED25519,
  sign: (text, key) => sign(null, Buffer.from(text), key),
  isValid: (text, signature, key) => verify(null, Buffer.from(text), key, signature),
};

/** Checks signatures of one key. */
export interface NoteVerifier {
  /** Name of who signs; of a log, its origin. */
  name: string;
  /** As Go's `golang.org/x/mod/sumdb/note` prints it: `name+id+key`. */
  text: string;
  id: Buffer;
  isValid(text: string, signature: Uint8Array): boolean;
}

/** Signs notes with one key. */
export interface NoteSigner {
  verifier: NoteVerifier;
  sign(text: string): Buffer;
}

/**
 * A new private key, as Go's `note.GenerateKey` prints it: `PRIVATE+KEY+name+id+key`.
 *
 * @param name neither spaces nor `+` @throws NoteError
 */
export function newSigningKey(name: string, algorithm: Algorithm = ED25519): string {
  if (!isName(name)) throw new NoteError('the name must have at least one character, no space and no "+"');
  const seed = randomBytes(KEY_BYTES);
  const id = keyId(name, algorithm, publicKeyOf(privateKeyOf(seed)));
  return `${PRIVATE_PREFIX}${name}+${id.toString('hex')}+${encodeKey(algorithm, seed)}`;
}

/** Reads a private key. @throws NoteError that does not repeat the key */
export function readSigningKey(text: string, scheme: Scheme = PLAIN): NoteSigner {
  const parts = text.startsWith(PRIVATE_PREFIX)
    ? splitKey(text.slice(PRIVATE_PREFIX.length), scheme.algorithm)
    : undefined;
  if (!parts) throw new NoteError('a private key must read PRIVATE+KEY+name+id+key');
  const key = privateKeyOf(parts.key);
  return { verifier: verifierOf(parts, publicKeyOf(key), scheme), sign: (note) => scheme.sign(note, key) };
}

/** Reads the private keys of one log, separated by commas. @throws NoteError that does not repeat a key */
export function readSigningKeys(text: string): NoteSigner[] {
  const signers = text.split(',').map((part) => readSigningKey(part.trim()));
  if (new Set(signers.map(({ verifier }) => verifier.name)).size > 1)
    throw new NoteError('the keys must have one name: it is the name of the log');
  if (new Set(signers.map(({ verifier }) => verifier.text)).size < signers.length)
    throw new NoteError('must not hold a key twice');
  return signers;
}

/** Reads a public key. @throws NoteError */
export function readVerifierKey(text: string, scheme: Scheme = PLAIN): NoteVerifier {
  const parts = splitKey(text, scheme.algorithm);
  if (!parts) throw new NoteError('a key must read name+id+key');
  return verifierOf(parts, parts.key, scheme);
}

/** A signed note (C2SP): the text, an empty line, and a line for each signature. @param text ends with a line feed */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  return `${text}\n${signers.map((signer) => signatureLine(text, signer)).join('')}`;
}

/** The line with which a key signs a text. */
export function signatureLine(text: string, { verifier, sign }: NoteSigner): string {
  const signature = Buffer.concat([verifier.id, sign(text)]);
  return `${SIGNATURE_MARK}${verifier.name} ${signature.toString('base64')}\n`;
}

/** The text of a note, which its signatures are of; nothing is verified. @throws NoteError */
export function textOf(note: string): string {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n')) throw new NoteError('the checkpoint is not a signed note');
  return note.slice(0, end + 1);
}

/**
 * Reads a signed note. Signatures of unknown keys are passed over, as C2SP asks, so that others can add theirs.
 *
 * @returns the text, and the keys whose signatures are valid: at least one
 * @throws NoteError
 */
export function openNote(note: string, known: readonly NoteVerifier[]): { text: string; by: NoteVerifier[] } {
  const text = textOf(note);
  if (hasControlCharacter(note)) throw new NoteError('the checkpoint holds control characters');
  const by = new Set<NoteVerifier>();
  for (const line of note.slice(text.length + 1, -1).split('\n')) {
    const { name, id, signature } = readSignature(line);
    const verifier = known.find((key) => key.name === name && key.id.equals(id));
    if (!verifier) continue;
    if (by.has(verifier)) throw new NoteError(`the checkpoint has two signatures of ${name}`);
    if (!verifier.isValid(text, signature))
      throw new NoteError(`the signature of ${name} does not belong to the checkpoint`);
    by.add(verifier);
  }
  if (by.size === 0) throw new NoteError('the checkpoint is not signed with the key of the log');
  return { text, by: [...by] };
}

/** Reads a line of {@link signatureLine}. @throws NoteError */
export function readSignature(line: string): { name: string; id: Buffer; signature: Buffer } {
  const [name = '', encoded = '', ...more] = line.slice(SIGNATURE_MARK.length).split(' ');
  const bytes = decodeBase64(encoded);
  if (
    !line.startsWith(SIGNATURE_MARK) ||
    more.length > 0 ||
    !isName(name) ||
    !bytes ||
    bytes.length <= ID_BYTES
  )
    throw new NoteError('a signature of the checkpoint is not valid');
  return { name, id: bytes.subarray(0, ID_BYTES), signature: bytes.subarray(ID_BYTES) };
}

/** @param bytes of the public key */
function verifierOf(
  { name, id }: Pick<NoteVerifier, 'name' | 'id'>,
  bytes: Buffer,
  { algorithm, isValid }: Scheme,
): NoteVerifier {
  if (!keyId(name, algorithm, bytes).equals(id))
    throw new NoteError('the id in the key does not belong to its name and key: it was altered');
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
    format: 'jwk',
  });
  return {
    name,
    id,
    text: `${name}+${id.toString('hex')}+${encodeKey(algorithm, bytes)}`,
    isValid: (text, signature) => isValid(text, signature, key),
  };
}

/** First four bytes of SHA-256 of name, line feed, algorithm and public key (C2SP signed-note). */
function keyId(name: string, algorithm: Algorithm, key: Buffer): Buffer {
  return createHash('sha256')
    .update(Buffer.concat([Buffer.from(`${name}\n`), Buffer.of(algorithm), key]))
    .digest()
    .subarray(0, ID_BYTES);
}

function encodeKey(algorithm: Algorithm, key: Buffer): string {
  return Buffer.concat([Buffer.of(algorithm), key]).toString('base64');
}

/** Reads `name+id+key`; the key may itself hold `+`. */
function splitKey(text: string, algorithm: Algorithm): { name: string; id: Buffer; key: Buffer } | undefined {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  const bytes = decodeBase64(encoded);
  if (!isName(name) || bytes?.length !== 1 + KEY_BYTES || bytes[0] !== algorithm) return undefined;
  return { name, id: Buffer.from(id, 'hex'), key: bytes.subarray(1) };
}

function privateKeyOf(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

function publicKeyOf(key: KeyObject): Buffer {
  return Buffer.from(String(createPublicKey(key).export({ format: 'jwk' }).x), 'base64url');
}

function isName(name: string): boolean {
  return name !== '' && !/[\s+\p{C}]/u.test(name);
}

function hasControlCharacter(text: string): boolean {
  return [...text].some((character) => character < ' ' && character !== '\n') || /\p{Surrogate}/u.test(text);
}
