import { Schema } from 'mongoose';
import { RESOLUTIONS, type Resolution, type TallyRow } from '../../domain/stats/tally.js';
import { collection, must, repositoryOf, withoutNulls } from '../mongo/collection.js';

const tallies = collection('tallies', {
  /** Counted resource and span. */
  _id: must(String),
  /** Account, resolution and span. */
  period: must(String, { index: true }),
  endpoint_id: must(String),
  event_kind: must(String),
  /** Milliseconds since the epoch. */
  span: must(Number),
  slots: must<TallyRow['slots']>(Schema.Types.Mixed),
  expires_at: must(Date, { expires: 0 }),
});

/** Which tallies to read. */
export interface TallyQuery {
  resolution: Resolution;
  /** Beginnings of spans, milliseconds since the epoch. */
  spans: readonly number[];
  endpoint_id?: string | undefined;
  event_kind?: string | undefined;
}

/** Counts of closed deliveries, by account, endpoint, kind and time. All processes add to the same rows. */
export class TallyRepository extends repositoryOf(tallies) {
  /** Adds what a process has counted: one write for each row. */
  async add(rows: readonly TallyRow[]): Promise<void> {
    if (rows.length > 0) await this.model.bulkWrite(rows.map(updateOf), { ordered: false, strict: false });
  }

  async read(
    accountId: string,
    { resolution, spans, endpoint_id, event_kind }: TallyQuery,
  ): Promise<TallyRow[]> {
    const found = await this.model
      .find({
        period: { $in: spans.map((span) => periodOf(accountId, resolution, span)) },
        ...withoutNulls({ endpoint_id, event_kind }),
      })
      .lean();
    return found.map(({ endpoint_id, event_kind, span, slots }) => ({
      account_id: accountId,
      endpoint_id,
      event_kind,
      resolution,
      span,
      slots,
    }));
  }
}

function updateOf({ account_id, endpoint_id, event_kind, resolution, span, slots }: TallyRow) {
  const { spanMs, keptMs } = RESOLUTIONS[resolution];
  const period = periodOf(account_id, resolution, span);
  const $inc = Object.fromEntries(
    Object.entries(slots).flatMap(([slot, counts]) =>
      Object.entries(counts).map(([name, count]) => [`slots.${slot}.${name}`, count]),
    ),
  );
  return {
    updateOne: {
      filter: { _id: `${period}/${endpoint_id}/${event_kind}` },
      update: {
        $inc,
        $setOnInsert: { period, endpoint_id, event_kind, span, expires_at: new Date(span + spanMs + keptMs) },
      },
      upsert: true,
    },
  };
}

function periodOf(accountId: string, resolution: Resolution, span: number): string {
  return `${accountId}/${resolution}/${new Date(span).toISOString()}`;
}
