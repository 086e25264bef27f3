import type { Client } from '@temporalio/client';
import { payloadBytes } from '../../domain/ledger/sealed-event.js';
import type { Delivery, EarlierRun } from './delivery-view.js';
import { readEarlierRuns } from './earlier-runs.js';
import { readStarted, type Started } from './history.js';
import type { Opener } from './privacy/opener.js';
import { type Located, RowReader } from './row-reader.js';

/**
 * A delivery with everything that happened to it, as it is read by itself.
 *
 * @param opener opens what the execution holds sealed
 * @param known what has been read already, for who reads many deliveries: a reader that they share, what the execution was started with, and
 *   earlier runs that the archive has
 */
export async function readDelivery(
  client: Client,
  opener: Opener,
  accountId: string,
  located: Located,
  known: { rows?: RowReader; started?: Started | undefined; earlier?: readonly EarlierRun[] } = {},
): Promise<Delivery> {
  const { execution, row } = located;
  const { event_id, endpoint_id } = row.summary;
  const [{ summary, record }, earlierRuns, input] = await Promise.all([
    (known.rows ?? new RowReader(client)).full(located),
    readEarlierRuns(client, opener, execution, accountId, { event_id, endpoint_id }, known.earlier),
    known.started ?? readStarted(client, execution, event_id),
  ]);
  const { event, resent } = input ?? {};
  const [payload_sha256, attempts] = await Promise.all([
    event && opener.hash(event),
    opener.attempts(accountId, row.summary, record?.attempts),
  ]);
  return {
    ...summary,
    payload_sha256,
    payload_bytes: event && payloadBytes(event),
    payload_erased: event && payload_sha256 === undefined ? true : undefined,
    attempts,
    interventions: record?.interventions ?? (resent && [resent]),
    cause: record?.cause,
    asked_to_wait: record?.asked_to_wait,
    earlier_runs: earlierRuns.length > 0 ? earlierRuns : undefined,
  };
}
