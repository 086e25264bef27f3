import { Schema } from 'mongoose';
import type { Column, RateNews } from '../../domain/access/limits/rate-table.js';
import { inParts } from '../../domain/basics/bounded-memory.js';
import { collection, type DocumentIn, must, repositoryOf } from '../mongo/collection.js';

const rows = collection('rate_rows', {
  /** Window and caller. */
  _id: must(String),
  /** A table and one of its windows. */
  window: must(String, { index: true }),
  caller: must(String),
  numbers: must<Column>(Schema.Types.Mixed),
  expires_at: must(Date, { expires: 0 }),
});
type RowDocument = DocumentIn<typeof rows>;

/** The shared numbers of a window, by column and caller. */
export interface RateWindow {
  id: string;
  columns: Record<string, Column>;
}

/** How many ids one query asks for. */
const IDS_AT_ONCE = 1_000;

/** The shared counts of the rate limits: a row for each window and caller, changed by increments. */
export class RateWindowRepository extends repositoryOf(rows) {
  /**
   * Adds what a process has counted.
   *
   * @param watched windows of which all rows are wanted, also those of other callers
   * @returns the shared numbers of the same callers, and all of the watched windows
   */
  async tell(news: readonly RateNews[], watched: readonly string[]): Promise<RateWindow[]> {
    const updates = news.flatMap(updatesOf);
    if (updates.length > 0) await this.model.bulkWrite(updates, { ordered: false, strict: false });
    const ids = updates.map(({ updateOne }) => updateOne.filter._id);
    const [told, seen] = await Promise.all([
      this.read(ids),
      this.model.find({ window: { $in: [...watched] } }).lean(),
    ]);
    return byWindow([...told, ...seen]);
  }

  /** One query after another: others of this process share its connections. */
  private async read(ids: readonly string[]): Promise<RowDocument[]> {
    const rows: RowDocument[] = [];
    for (const some of inParts(ids, IDS_AT_ONCE))
      rows.push(...(await this.model.find({ _id: { $in: some } }).lean()));
    return rows;
  }

  /**
   * The windows that are still open, as far as a process can hold them at its start.
   *
   * @param now milliseconds since the epoch
   */
  async open(now: number): Promise<RateWindow[]> {
    return byWindow(
      await this.model
        .find({ expires_at: { $gt: new Date(now) } })
        .limit(100_000)
        .lean(),
    );
  }
}

/** One update for each caller. */
function updatesOf({ id, add, raise, endsAt }: RateNews) {
  const callers = new Set([...Object.values(add), ...Object.values(raise)].flatMap(Object.keys));
  return [...callers].map((caller) => ({
    updateOne: {
      filter: { _id: `${id}/${caller}` },
      update: {
        $inc: numbersOf(add, caller),
        $max: { ...numbersOf(raise, caller), expires_at: new Date(endsAt) },
        $setOnInsert: { window: id, caller },
      },
      upsert: true,
    },
  }));
}

function numbersOf(columns: Record<string, Column>, caller: string): Column {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [`numbers.${name}`, column[caller] ?? 0]),
  );
}

function byWindow(rows: readonly RowDocument[]): RateWindow[] {
  const windows = new Map<string, Record<string, Column>>();
  for (const { window, caller, numbers } of rows) {
    const columns = windows.get(window) ?? {};
    windows.set(window, columns);
    for (const [name, number] of Object.entries(numbers)) {
      columns[name] ??= {};
      columns[name][caller] = number;
    }
  }
  return [...windows].map(([id, columns]) => ({ id, columns }));
}
