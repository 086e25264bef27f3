import { randomBytes, randomUUID } from 'node:crypto';
import { newSigningKey, readSigningKey } from '../../packages/tlog/src/index.js';
import { deliveryId } from '../../src/domain/basics/delivery-id.js';
import { newId } from '../../src/domain/basics/ids.js';
import { deliveryWorkflowId } from '../../src/domain/ledger/workflow-ids.js';
import { verifyCertificate } from '../../src/domain/log/certificate.js';
import { type CanonicalDelivery, canonicalJson, RECORD_FORMAT } from '../../src/domain/records/record.js';
import { connectDatabase } from '../../src/models/database.js';
import { percentile } from '../support/statistics.js';
import { findProcess, usageOf } from '../support/usage.js';

/** Cost of the log. */
export interface LogCost {
  /** Processor time for each record: of this process, and of MongoDB's. Microseconds. */
  ours: number;
  mongodb: number;
  /** Records each second, with nothing else going on. */
  perSecond: number;
  /** To find and prove a record, median and 95 %, milliseconds. */
  prove: { p50: number; p95: number };
  /** Processor time to verify a certificate, milliseconds, and its size, bytes. */
  verifyMs: number;
  certificateBytes: number;
}

/** Records of a group. */
const RECORDS_AT_ONCE = 60;
/** Groups that are read at once. */
const GROUPS_AT_ONCE = 4;
const PROOFS = 500;
const ATTEMPTS = 10;

/**
 * Appends records group by group, as the keeper does under load, and signs a checkpoint.
 *
 * @param folder of the servers
 */
export async function measureLog(uri: string, folder: string, records: number): Promise<LogCost> {
  const database = await connectDatabase(uri);
  try {
    await database.createIndexes();
    const texts = Array.from({ length: records }, newRecord);
    const signers = [readSigningKey(newSigningKey('bench.example/log'))];
    const mongo = await findProcess(folder, new URL(uri).port);
    const mongoCpuMs = async () => (mongo && (await usageOf(mongo))?.cpuMs) ?? Number.NaN;

    const [began, before, mongoBefore] = [performance.now(), process.cpuUsage(), await mongoCpuMs()];
    const numbers: number[] = [];
    for (let first = 0; first < records; first += RECORDS_AT_ONCE * GROUPS_AT_ONCE) {
      const groups = Array.from({ length: GROUPS_AT_ONCE }, (_, group) => first + group * RECORDS_AT_ONCE);
      const appended = await Promise.all(
        groups.map((from) => database.log.append(texts.slice(from, from + RECORDS_AT_ONCE))),
      );
      numbers.push(...appended.flat());
    }
    await database.log.publish(signers);
    const { user, system } = process.cpuUsage(before);
    const mongodb = (await mongoCpuMs()) - mongoBefore;
    const elapsed = performance.now() - began;

    const times: number[] = [];
    let certificate = '';
    for (let proof = 0; proof < PROOFS; proof += 1) {
      const chosen = Math.floor(Math.random() * records);
      const [record = '', index = -1] = [texts[chosen], numbers[chosen]];
      const asked = performance.now();
      const found = await database.log.prove(
        record,
        index,
        signers.map(({ verifier }) => verifier),
      );
      times.push(performance.now() - asked);
      certificate = JSON.stringify({
        type: 'certificate',
        format: RECORD_FORMAT,
        record: JSON.parse(record),
        leaf_index: index,
        inclusion_proof: found?.proof.map((hash) => hash.toString('base64')),
        checkpoint: found?.head.note,
        log_key: signers[0]?.verifier.text,
      });
    }
    const verifying = process.cpuUsage();
    for (let each = 0; each < PROOFS; each += 1) verifyCertificate(certificate);
    const verified = process.cpuUsage(verifying);
    return {
      ours: (user + system) / records,
      mongodb: (mongodb * 1_000) / records,
      perSecond: (records * 1_000) / elapsed,
      prove: { p50: percentile(times, 50), p95: percentile(times, 95) },
      verifyMs: (verified.user + verified.system) / 1_000 / PROOFS,
      certificateBytes: Buffer.byteLength(certificate),
    };
  } finally {
    await database.close();
  }
}

/** The record of a delivery with ten attempts. */
function newRecord(): string {
  const [account_id, event_id, endpoint_id] = [newId('account'), newId('event'), newId('endpoint')];
  const at = new Date().toISOString();
  const record: CanonicalDelivery = {
    type: 'delivery',
    format: RECORD_FORMAT,
    revision: 1,
    account_id,
    delivery_id: deliveryId({ event_id, endpoint_id }),
    event_id,
    event_kind: 'purchase',
    endpoint_id,
    workflow_id: deliveryWorkflowId(account_id, { event_id, endpoint_id }),
    run_id: randomUUID(),
    status: 'exhausted',
    accepted_at: at,
    started_at: at,
    closed_at: at,
    attempts: Array.from({ length: ATTEMPTS }, (_, number) => ({
      number: number + 1,
      at,
      duration_ms: 5_001,
      trigger: 'schedule',
      endpoint_version: 1,
      status_code: 503,
    })),
    payload_bytes: 144,
    payload_commitment: randomBytes(32).toString('hex'),
    details_commitment: randomBytes(32).toString('hex'),
    view_commitment: randomBytes(32).toString('hex'),
  };
  return canonicalJson(record);
}
