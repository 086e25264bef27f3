import assert from 'node:assert/strict';
import type { ReplayView } from '../../../src/temporal/read/replay/replay-reader.js';
import type { ApiClient } from '../api-client.js';
import { PURCHASE } from '../api-client.js';
import { until, WAIT_LIMIT_MS } from '../until.js';

/** Posts purchases, side by side, whose order ids end with their numbers. @returns their deliveries' ids */
export async function purchases(client: ApiClient, count: number): Promise<string[]> {
  const events = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.purchase(PURCHASE.replace('order-1', `order-${index + 1}`)),
    ),
  );
  return events.flatMap(({ deliveries }) => deliveries.map(({ id }) => id));
}

/**
 * Waits until lists show so many deliveries that a query asks for. A page that a busy machine does not read in time
 * (`503`) is not there yet.
 *
 * @returns their ids
 */
export async function listed(client: ApiClient, query: string, count: number): Promise<string[]> {
  const ids = async () => {
    const all: string[] = [];
    let next: string | undefined = `/v18.0/deliveries?limit=100&${query}`;
    while (next) {
      const { status, json, text } = await client.request('GET', next);
      if (status === 503) break;
      assert.equal(status, 200, text);
      all.push(...json.data.map(({ id }: { id: string }) => id));
      next = json.paging.next;
    }
    return all;
  };
  return until(ids, (all) => new Set(all).size === count);
}

async function ask(client: ApiClient, body: Record<string, unknown>, expected: number) {
  const { status, json, text } = await client.request('POST', '/v18.0/replays', { body });
  assert.equal(status, expected, text);
  return json;
}

/** Asks for a replay. @throws where it is refused */
export function replay(client: ApiClient, body: Record<string, unknown>) {
  return ask(client, body, 202);
}

/** Asks what a replay would do, until it has counted all: where Temporal is slow to answer, it says how far it came. */
export function dryRun(client: ApiClient, body: Record<string, unknown>) {
  return until(
    () => ask(client, { ...body, dry_run: true }, 200),
    ({ complete }) => complete,
  );
}

/** A replay as it is. */
export async function readReplay(client: ApiClient, id: string): Promise<ReplayView> {
  const { status, json, text } = await client.request('GET', `/v18.0/replays/${id}`);
  assert.equal(status, 200, text);
  return json;
}

/** Waits until a replay is over. */
export function replayOver(client: ApiClient, id: string, timeoutMs = WAIT_LIMIT_MS): Promise<ReplayView> {
  return until(
    () => readReplay(client, id),
    ({ closed_at }) => closed_at !== undefined,
    timeoutMs,
  );
}

/** Asks what a replay would do, and has it done. The counts must be the same. */
export async function replayAsPreviewed(
  client: ApiClient,
  body: Record<string, unknown>,
): Promise<ReplayView & { sample: string[] }> {
  const { found, skipped, sample } = await dryRun(client, body);
  const { id } = await replay(client, { rate: 500, ...body });
  const done = await replayOver(client, id);
  assert.deepEqual(
    { found: done.found, skipped: done.skipped, done: done.done, failed: done.failed, state: done.state },
    { found, skipped, done: found - skipped, failed: 0, state: 'finished' },
  );
  return { ...done, sample };
}
