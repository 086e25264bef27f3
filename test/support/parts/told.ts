import { Keeper, type KeeperOptions } from '../../../activities/records/keeper.js';
import type { DeliveryKey } from '../../../src/domain/basics/delivery-id.js';
import type { DeliveryRecord } from '../../../src/domain/delivery/delivery.js';
import type { RowStore, Told, ToldRun } from '../../../src/domain/records/told.js';

/** A time from now, ISO 8601. */
export const at = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();

export const attempt = (number: number, status_code: number) => ({
  ...{ number, at: at(number - 60), duration_ms: 20, status_code, trigger: 'schedule' as const },
  url: 'https://subscriber.example/hooks',
});
export const open = (): DeliveryRecord => ({ status: 'retrying', attempts: [attempt(1, 500)] });
export const closed = (): DeliveryRecord => ({ status: 'delivered', attempts: [attempt(1, 200)] });

const began = at(-600);

/** A run of the execution of a delivery. */
export const runOf = (delivery: string, number: number, more: Partial<ToldRun>): ToldRun => ({
  ...{ workflow_id: `delivery:${delivery}`, run_id: `run-${number}`, started_at: began, is_first: true },
  ...more,
});

/** A keeper that wakes nobody. */
export const keeperOver = (
  rows: RowStore,
  more: Pick<KeeperOptions, 'sealer' | 'latestRun'> & Partial<KeeperOptions>,
) =>
  new Keeper({
    rows,
    order: { kept: async () => {} },
    isActiveOrGone: async () => false,
    wake: async () => {},
    ...more,
  });

/** Report of an execution on its only delivery. */
export function toldBy(
  run: ToldRun,
  turn: number,
  key: DeliveryKey & { account_id: string },
  record: DeliveryRecord,
): Told {
  const snapshot = { record, state: { kind: 'closed' as const }, failed: 0 };
  return {
    run,
    turn,
    at: at(0),
    deliveries: [{ ...key, event_kind: 'purchase', snapshot, max_attempts: 3 }],
  };
}
