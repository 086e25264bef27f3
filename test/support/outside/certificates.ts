import { randomBytes } from 'node:crypto';
import {
  inclusionProof,
  leafHash,
  newSigningKey,
  readSigningKey,
  rootHash,
  signCheckpoint,
} from '../../../packages/tlog/src/index.js';
import { CERTIFICATE_FORMAT, type Certificate, type Opening } from '../../../src/domain/log/certificate.js';
import { commitTo } from '../../../src/domain/privacy/data-key.js';
import { canonicalJson } from '../../../src/domain/records/canonical-json.js';
import { commitToDetails, type DeliveryDetails } from '../../../src/domain/records/details.js';
import { RECORD_FORMAT } from '../../../src/domain/records/record.js';
import { TreeInMemory } from '../parts/log-tree.js';

const PAYLOAD = '{"order_id":"1001","customer_email":"ada@example.com"}';

/** Where the attempts of the sample went, and what came back. */
function detailsOf(attempts: number): DeliveryDetails {
  return {
    reason: 'Attempt 3 failed: connection refused. That was the last of the schedule.',
    attempts: Array.from({ length: attempts }, (_, each) => ({
      number: each + 1,
      url: 'https://subscriber.example/hooks?tenant=7',
      address: '192.0.2.1',
      request_bytes: PAYLOAD.length,
      ...(each % 2
        ? { response_bytes: 4, response_sha256: 'f'.repeat(64), response_snippet: 'nope' }
        : { error: 'connection refused' }),
    })),
  };
}

/** The record of a delivery with some attempts, as a row has it. */
function recordOf(
  number: number,
  attempts: number,
  [salt, detailsSalt]: readonly [Buffer, Buffer],
): Certificate['record'] {
  const at = new Date(Date.UTC(2026, 10, 21, 12, 0, number % 60)).toISOString();
  const id = String(number).padStart(26, '0');
  const deliveryId = `dlv_${id}_${id}`;
  return {
    type: 'delivery',
    format: RECORD_FORMAT,
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
    })),
    payload_bytes: PAYLOAD.length,
    payload_commitment: commitTo(salt, PAYLOAD),
    details_commitment: commitToDetails(detailsSalt, detailsOf(attempts)),
  };
}

/** A log with records of deliveries, and certificates of them. */
export async function sampleLog(size: number, attempts = 3) {
  const salts = [randomBytes(32), randomBytes(32)] as const;
  const records = Array.from({ length: size }, (_, at) => recordOf(at, attempts, salts));
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
        format: CERTIFICATE_FORMAT,
        record: records[index] ?? recordOf(index, attempts, salts),
        details: { value: { ...detailsOf(attempts) }, salt: salts[1].toString('base64') },
        leaf_index: index,
        inclusion_proof: proof.map((hash) => hash.toString('base64')),
        checkpoint: await this.checkpoint(at),
        log_key: signer.verifier.text,
      };
    },
    opening: (index: number): Opening => ({
      type: 'opening',
      format: CERTIFICATE_FORMAT,
      delivery_id: String(records[index]?.delivery_id),
      payload: PAYLOAD,
      salt: salts[0].toString('base64'),
    }),
  };
}
