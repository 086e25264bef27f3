import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { SecretKey } from '../../domain/access/secret-box.js';
import { decrypt, encrypt } from '../../domain/basics/symmetric.js';

/** `encoding` in the metadata of an encrypted payload: what Temporal's own samples of encryption use. */
export const ENCRYPTED_ENCODING = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

const encoding = Buffer.from(ENCRYPTED_ENCODING);
const { Payload: Proto } = proto.temporal.api.common.v1;

/** A payload of Temporal's cannot be decrypted: its key is not among the configured ones, or it has been altered. */
export class PayloadCodecError extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = 'PayloadCodecError';
  }
}

/**
 * Encrypts what leaves the process for Temporal: inputs, results, memos, signals, updates, queries, details of
 * failures, summaries. AES-256-GCM with a random 96-bit nonce; the key's id stands in the metadata, authenticated.
 * Search attributes are not payloads of this kind.
 *
 * What is not encrypted is read as it stands, so that executions which began before encryption was turned on go on.
 */
export class EncryptionCodec implements PayloadCodec {
  private readonly keys: ReadonlyMap<string, KeyObject>;
  private readonly newest: { id: Buffer; key: KeyObject } | undefined;

  /** @param keys the first one encrypts, all of them decrypt; none: nothing is encrypted */
  constructor(keys: readonly SecretKey[] = []) {
    this.keys = new Map(keys.map(({ id, key }) => [id, createSecretKey(key)]));
    const [first] = keys;
    const key = first && this.keys.get(first.id);
    this.newest = first && key && { id: Buffer.from(first.id), key };
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    return this.newest ? payloads.map((payload) => this.encrypt(payload)) : payloads;
  }

  /** @throws PayloadCodecError */
  async decode(payloads: Payload[]): Promise<Payload[]> {
    return payloads.map((payload) => this.decrypt(payload));
  }

  private encrypt(payload: Payload): Payload {
    if (!this.newest || isEncrypted(payload)) return payload;
    const { id, key } = this.newest;
    return {
      metadata: { encoding, [KEY_ID]: id },
      data: encrypt(key, id, Proto.encode(payload).finish()),
    };
  }

  private decrypt(payload: Payload): Payload {
    if (!isEncrypted(payload)) return payload;
    const id = Buffer.from(payload.metadata?.[KEY_ID] ?? []);
    const key = this.keys.get(id.toString());
    if (!key)
      throw new PayloadCodecError(
        `A payload in Temporal is encrypted with the key "${id}", which HOOKLINE_PAYLOAD_KEYS does not hold.`,
      );
    const data = payload.data ?? new Uint8Array();
    try {
      return Proto.decode(decrypt(key, id, data));
    } catch {
      throw new PayloadCodecError(
        `A payload in Temporal that the key "${id}" encrypted was altered, or the key is another one with this id.`,
      );
    }
  }
}

/** Whether a payload is encrypted. */
export function isEncrypted({ metadata }: Payload): boolean {
  const named = metadata?.['encoding'];
  return named !== undefined && named !== null && encoding.equals(named);
}
