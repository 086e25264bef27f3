import type { CanonicalDelivery } from '../records/record.js';

/** Use that an account makes of the service. Tests of endpoints and events that Hookline emits count as others do. */
export interface Usage {
  /** Events that were accepted. */
  events: number;
  /** Their payloads as they were received. */
  bytes: number;
  /** Deliveries that were closed; one that was sent again and closed again counts again. */
  deliveries: number;
  /** Attempts that these deliveries took. */
  attempts: number;
}

/** Closed deliveries of an account. */
export type ClosedUsage = Pick<Usage, 'deliveries' | 'attempts'> & { account_id: string };

const NONE: Usage = { events: 0, bytes: 0, deliveries: 0, attempts: 0 };

/** Sums by account. */
export class UsageSums {
  readonly byAccount = new Map<string, Usage>();

  add({ account_id, ...counts }: Partial<Usage> & { account_id: string }): void {
    this.byAccount.set(account_id, sumOfUsage([this.byAccount.get(account_id) ?? NONE, counts]));
  }
}

/** The sum of counts. */
export function sumOfUsage(some: readonly Partial<Usage>[]): Usage {
  const sum = { ...NONE };
  for (const one of some)
    for (const name of Object.keys(NONE) as (keyof Usage)[]) sum[name] += one[name] ?? 0;
  return sum;
}

/** Closed deliveries among some records, by account. @param records canonical texts */
export function closedUsage(records: readonly string[]): ClosedUsage[] {
  const sums = new UsageSums();
  for (const text of records) {
    if (!text.includes('"type":"delivery"')) continue;
    const { account_id, attempts } = JSON.parse(text) as CanonicalDelivery;
    sums.add({ account_id, deliveries: 1, attempts: attempts.length });
  }
  return [...sums.byAccount].map(([account_id, { deliveries, attempts }]) => ({
    ...{ account_id, deliveries, attempts },
  }));
}

/** A month in UTC, such as `2026-11`, and its hour, from 0 on. @param at milliseconds since the epoch */
export function monthAndHour(at: number): { month: string; hour: number } {
  const date = new Date(at);
  const hour = (date.getUTCDate() - 1) * 24 + date.getUTCHours();
  return { month: date.toISOString().slice(0, 7), hour };
}
