import { setImmediate } from 'node:timers/promises';

/** So many attempts are begun before the process does anything else, such as sending them. */
const BEGUN_AT_ONCE = 16;

/** Makes attempts side by side. One that fails takes nothing from the others. @returns their reports; `null` for one that failed */
export async function sideBySide<Item, Report>(
  items: readonly Item[],
  attempt: (item: Item) => Promise<Report>,
): Promise<(Report | null)[]> {
  const reports: Promise<Report | null>[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % BEGUN_AT_ONCE === 0) await setImmediate();
    reports.push(attempt(item).catch(() => null));
  }
  return Promise.all(reports);
}
