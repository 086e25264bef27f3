import assert from 'node:assert/strict';
import fc from 'fast-check';
import { closedAt, positionAt, positionBehind } from '../../../src/domain/archive/archived.js';
import { type BothLists, listBoth, type PlacedRow } from '../../../src/temporal/read/archive/merged-list.js';

/** A row, and where it is. */
interface Row {
  id: string;
  position: string | undefined;
  inLedger: boolean;
  inArchive: boolean;
}

/** When the first row closed. */
const FIRST_CLOSED_MS = 1_800_000_000_000;
const RUN = '00000000-0000-0000-0000-0000000000';

/** Some rows: open ones first, then closed ones, the latest first; each in the ledger, in the archive or in both. */
const rows = fc
  .array(fc.constantFrom('open', 'ledger', 'archive', 'both'), { maxLength: 40 })
  .map((places) => [
    ...places.filter((place) => place === 'open'),
    ...places.filter((place) => place !== 'open'),
  ])
  .map((places): Row[] =>
    places.map((place, index) => ({
      id: `row-${index}`,
      position:
        place === 'open'
          ? undefined
          : positionAt(new Date(FIRST_CLOSED_MS - index), `${RUN}${String(index).padStart(2, '0')}`, 0),
      inLedger: place !== 'archive',
      inArchive: place === 'archive' || place === 'both',
    })),
  );

/**
 * Both lists over rows, as they are when they are asked.
 *
 * @param spent the ledger's pages have at most so many rows @param complete the archive has what closed before
 */
function listsOf(all: Row[], spent: number, complete?: Date): BothLists<string> {
  const placed = ({ id, position }: Row): PlacedRow<string> => ({ id, value: id, position });
  const isSince = ({ position }: Row, since: Date | undefined) =>
    !since || position === undefined || closedAt(position) >= since;
  return {
    completeUntil: async () => complete,
    async ledger(limit, after, since) {
      const start = after === undefined ? 0 : Number(after);
      const data: PlacedRow<string>[] = [];
      let index = start;
      for (let looked = 0; index < all.length && data.length < limit && looked < spent; index++, looked++) {
        const row = all[index];
        if (row?.inLedger && isSince(row, since)) data.push(placed(row));
      }
      if (index >= all.length) return { data };
      const position = all[index - 1]?.position;
      const upTo = position && positionBehind(new Date(position.slice(0, 24)), position.slice(25, 61));
      return { data, after: String(index), upTo };
    },
    async archive({ above = '', below }, limit) {
      const found = all.filter(
        ({ inArchive, position = '' }) =>
          inArchive && position > above && (below === undefined || position < below),
      );
      const part = found.slice(0, limit);
      return { rows: part.map(placed), floor: part.at(-1)?.position, isDone: part.length < limit };
    },
    async held(some, since) {
      const ids = new Set(some.map(({ id }) => id));
      const held = all.filter((row) => row.inLedger && isSince(row, since) && ids.has(row.id));
      return new Set(held.map(({ id }) => id));
    },
  };
}

async function walk(
  all: Row[],
  limit: number,
  spent: number,
  between: () => void,
  completeUntil: () => Date | undefined = () => undefined,
): Promise<string[]> {
  const found: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 500; pages++) {
    const page = await listBoth(listsOf(all, spent, completeUntil()), limit, after);
    assert.ok(page.data.length <= limit);
    found.push(...page.data);
    if (page.after === undefined) return found;
    after = page.after;
    between();
  }
  throw new Error('the list does not end');
}

describe('a list of ledger and archive', () => {
  it('has each row once and in order, whatever is where, page by page', () =>
    fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 12 }),
        async (all, limit, spent) => {
          assert.deepEqual(
            await walk(all, limit, spent, () => {}),
            all.map(({ id }) => id),
          );
        },
      ),
    ));

  it('has each row once and in order also while Temporal removes some that are archived', () =>
    fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 9 }),
        fc.infiniteStream(fc.nat(39)),
        async (all, limit, removals) => {
          const between = () => {
            const row = all[removals.next().value];
            if (row?.inArchive) row.inLedger = false;
          };
          const ids = all.map(({ id }) => id);
          assert.deepEqual(await walk(structuredClone(all), limit, 100, () => {}), ids);
          assert.deepEqual(await walk(all, limit, 100, between), ids);
        },
      ),
    ));

  it('has each row once and in order where what is older is the archive’s alone, which gets more between two pages', () =>
    fc.assert(
      fc.asyncProperty(
        rows,
        fc.integer({ min: 1, max: 9 }),
        fc.nat(39),
        fc.nat(5),
        async (all, limit, border, more) => {
          let newest = border;
          const archiveFrom = (index: number) => {
            for (const row of all.slice(index)) if (row.position) row.inArchive = true;
          };
          archiveFrom(newest);
          const between = () => {
            newest = Math.max(newest - more, 0);
            archiveFrom(newest);
          };
          // The row at the border closed at that time, and not before it.
          const completeUntil = () => new Date(FIRST_CLOSED_MS - newest + 1);
          const ids = all.map(({ id }) => id);
          assert.deepEqual(await walk(all, limit, 100, between, completeUntil), ids);
        },
      ),
    ));

  it('does not ask the ledger for a page that is the archive’s alone', async () => {
    const all = Array.from(
      { length: 10 },
      (_, index): Row => ({
        ...{ id: `row-${index}`, inLedger: true, inArchive: true },
        position: positionAt(new Date(FIRST_CLOSED_MS - index), `${RUN}${String(index).padStart(2, '0')}`, 0),
      }),
    );
    let asked = 0;
    const lists = listsOf(all, 100, new Date(FIRST_CLOSED_MS + 1));
    const counting = {
      ...lists,
      ledger: (...args: Parameters<typeof lists.ledger>) => {
        asked += 1;
        return lists.ledger(...args);
      },
    };
    const first = await listBoth(counting, 4, undefined);
    const second = await listBoth(counting, 4, first.after);
    assert.deepEqual(
      [...first.data, ...second.data],
      all.slice(0, 8).map(({ id }) => id),
    );
    assert.equal(asked, 1);
  });
});
