import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { openEvent, payloadBytes } from '../../domain/ledger/sealed-event.js';
import type { PayloadSealer } from '../../domain/privacy/payload-sealer.js';
import { openAttempts } from './attempt-view.js';
import type { Delivery, EarlierRun } from './delivery-view.js';
import { readEarlierRuns } from './earlier-runs.js';
import { readStarted, type Started } from './history.js';
import { type Located, RowReader } from './row-reader.js';

/**
 * A delivery with everything that happened to it, as it is read by itself.
 *
 * @param sealer opens what the execution holds sealed
 * @param known what has been read already, for who reads many deliveries: a reader that they share, what the execution
 * was started with, and earlier runs that the archive has
 */
export async function readDelivery(
  client: Client,
  sealer: PayloadSealer,
  located: Located,
  known: { rows?: RowReader; started?: Started | undefined; earlier?: readonly EarlierRun[] } = {},
): Promise<Delivery> {
  const { account_id, summary: row } = located.row;
  const [{ summary, record }, earlierRuns, input] = await Promise.all([
    (known.rows ?? new RowReader(client)).full(located),
    readEarlierRuns(client, sealer, located, known.earlier),
    known.started ?? readStarted(client, located.execution, row.event_id),
  ]);
  const { event, resent } = input ?? {};
  const [payload, attempts] = await Promise.all([
    event && openEvent(sealer, event),
    openAttempts(sealer, { account_id, event_id: row.event_id }, record?.attempts),
  ]);
  return {
    ...summary,
    payload_sha256: payload === undefined ? undefined : createHash('sha256').update(payload).digest('hex'),
    payload_bytes: event && payloadBytes(event),
    payload_erased: event && payload === undefined ? true : undefined,
    attempts,
    interventions: record?.interventions ?? (resent && [resent]),
    cause: record?.cause,
    asked_to_wait: record?.asked_to_wait,
    earlier_runs: earlierRuns.length > 0 ? earlierRuns : undefined,
  };
}
