import assert from 'node:assert/strict';
import fc from 'fast-check';
import { positionAt, positionBehind } from '../../../src/domain/archive/archived.js';
import { type BothLists, listBoth, type PlacedRow } from '../../../src/temporal/read/archive/merged-list.js';

/** A row, and where it is. */
interface Row {
  id: string;
  position: string | undefined;
  inLedger: boolean;
  inArchive: boolean;
}

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
          : positionAt(new Date(1_800_000_000_000 - index), `${RUN}${String(index).padStart(2, '0')}`, 0),
      inLedger: place !== 'archive',
      inArchive: place === 'archive' || place === 'both',
    })),
  );

/** Both lists over rows, as they are when they are asked. @param spent the ledger's pages have at most so many rows */
function listsOf(all: Row[], spent: number): BothLists<string> {
  const placed = ({ id, position }: Row): PlacedRow<string> => ({ id, value: id, position });
  return {
    async ledger(limit, after) {
      const start = after === undefined ? 0 : Number(after);
      const data: PlacedRow<string>[] = [];
      let index = start;
      for (let looked = 0; index < all.length && data.length < limit && looked < spent; index++, looked++) {
        const row = all[index];
        if (row?.inLedger) data.push(placed(row));
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
    async held(some) {
      const ids = new Set(some.map(({ id }) => id));
      return new Set(all.filter(({ id, inLedger }) => inLedger && ids.has(id)).map(({ id }) => id));
    },
  };
}

async function walk(all: Row[], limit: number, spent: number, between: () => void): Promise<string[]> {
  const found: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 500; pages++) {
    const page = await listBoth(listsOf(all, spent), limit, after);
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
});
