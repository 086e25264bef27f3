import { randomBytes } from 'node:crypto';
import { canonicalJson } from '../../../src/domain/archive/canonical-json.js';
import { commitToReceipt } from '../../../src/domain/archive/receipt.js';
import type { Certificate, Opening } from '../../../src/domain/log/certificate.js';
import { signCheckpoint } from '../../../src/domain/log/checkpoint.js';
import { inclusionProof, leafHash, rootHash } from '../../../src/domain/log/merkle-tree.js';
import { newSigningKey, readSigningKey } from '../../../src/domain/log/signed-note.js';
import { commitTo } from '../../../src/domain/privacy/data-key.js';
import { TreeInMemory } from '../parts/log-tree.js';

const PAYLOAD = '{"order_id":"1001","customer_email":"ada@example.com"}';

/** What the subscriber of the sample answered to the last attempt. */
const RECEIPT = 'v1,MEUCIQDbIWUpLzdV1VVi7zAVlDk8/Ga8O9';

/** The record of a delivery with some attempts, as the archive makes it. */
export function recordOf(number: number, attempts: number, salt: Buffer): Certificate['record'] {
  const at = new Date(Date.UTC(2026, 10, 21, 12, 0, number % 60)).toISOString();
  const id = String(number).padStart(26, '0');
  const deliveryId = `dlv_${id}_${id}`;
  return {
    type: 'delivery',
    format: 1,
    revision: 1,
    account_id: `acct_${id}`,
    delivery_id: deliveryId,
    event_id: `evt_${id}`,
    event_kind: 'purchase',
    endpoint_id: `ep_${id}`,
    workflow_id: `delivery:acct_${id}:evt_${id}:ep_${id}`,
    run_id: '01989c5e-7f1a-7b3c-8d21-6a1f0c9b5d3e',
    status: 'exhausted',
    accepted_at: at,
    started_at: at,
    closed_at: at,
    attempts: Array.from({ length: attempts }, (_, each) => ({
      number: each + 1,
      at,
      duration_ms: 5_001,
      trigger: 'schedule',
      endpoint_version: 12,
      ...(each % 2 ? { status_code: 503 } : { error_code: 'connection_refused' }),
      ...(each === attempts - 1 && {
        receipt_commitment: commitToReceipt(salt, deliveryId, attempts, RECEIPT),
      }),
    })),
    payload_bytes: PAYLOAD.length,
    payload_commitment: commitTo(salt, PAYLOAD),
  };
}

/** A log with records of deliveries, and certificates of them. */
export async function sampleLog(size: number, attempts = 3) {
  const salt = randomBytes(32);
  const records = Array.from({ length: size }, (_, at) => recordOf(at, attempts, salt));
  const tree = new TreeInMemory(records.map((record) => leafHash(canonicalJson(record))));
  const signer = readSigningKey(newSigningKey('hooks.example.com/log'));
  return {
    key: signer.verifier.text,
    tree,
    checkpoint: async (at: number) => signCheckpoint(at, await rootHash(at, tree.read), [signer]),
    async certificate(index: number, at = size): Promise<Certificate> {
      const proof = await inclusionProof(index, at, tree.read);
      return {
        type: 'certificate',
        format: 1,
        record: records[index] ?? recordOf(index, attempts, salt),
        leaf_index: index,
        inclusion_proof: proof.map((hash) => hash.toString('base64')),
        checkpoint: await this.checkpoint(at),
        log_key: signer.verifier.text,
      };
    },
    opening: (index: number): Opening => ({
      type: 'opening',
      format: 1,
      delivery_id: String(records[index]?.delivery_id),
      payload: PAYLOAD,
      salt: salt.toString('base64'),
      receipts: [{ attempt: attempts, receipt: RECEIPT }],
    }),
  };
}
