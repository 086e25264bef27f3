import type { mongo } from 'mongoose';

/** A document with a field of each type. */
export interface Thing {
  _id: string;
  account: string;
  name?: string | null;
  active?: boolean;
  count?: number;
  ratio?: number;
  at?: Date;
  tags?: string[];
  anything?: unknown;
}

export const DAY_1 = Date.parse('2026-01-01T00:00:00Z');
/** How many there are. */
export const SIZE = 120;

/** Awkward on purpose: texts that JSON escapes, numbers that sort differently as texts, fields that are missing. */
export const things: Thing[] = Array.from({ length: SIZE }, (_, i) => ({
  _id: `thing-${String(i).padStart(4, '0')}`,
  account: `account-${i % 3}`,
  ...(i % 10 !== 9 && { name: ['plain', 'with space', '<b>&"\\', 'ärger', 'plain!', '[1'][i % 6] ?? '' }),
  ...(i % 10 === 8 && { name: null }),
  active: i % 2 === 0,
  count: i - 10,
  ratio: i / 7,
  at: new Date(DAY_1 + (i - 60) * 86_400_000 * 365),
  tags: i % 4 === 0 ? [] : [`tag-${i % 5}`, 'all'],
  anything: [i, `text ${i}`, i % 2 === 0, new Date(DAY_1 + i), [i, 'x'], { a: i }, null][i % 7],
}));

/** A condition, and what meets it. */
type Case = [mongo.Filter<Thing>, (thing: Thing) => boolean];
export const cases: Case[] = [
  [{ name: 'plain' }, ({ name }) => name === 'plain'],
  [{ name: '<b>&"\\' }, ({ name }) => name === '<b>&"\\'],
  [{ name: '[1' }, ({ name }) => name === '[1'],
  [{ name: { $in: ['ärger', 'nobody'] } }, ({ name }) => name === 'ärger'],
  [{ name: { $gt: 'plain' } }, ({ name }) => (name ?? '') > 'plain'],
  [{ name: { $gte: 'plain', $lt: 'plain"' } }, ({ name }) => name === 'plain' || name === 'plain!'],
  [{ name: { $lte: 'plain' } }, ({ name }) => name != null && name <= 'plain'],
  [{ name: null }, ({ name }) => name == null],
  [{ name: { $ne: 'plain' } }, ({ name }) => name !== 'plain'],
  [{ active: true }, ({ active }) => active === true],
  [{ active: false, count: { $gte: 100 } }, ({ active, count = 0 }) => !active && count >= 100],
  [{ count: 9 }, ({ count }) => count === 9],
  [{ count: { $gt: 9 } }, ({ count = 0 }) => count > 9],
  [{ count: { $lte: -3 } }, ({ count = 0 }) => count <= -3],
  [{ count: { $in: [1, 10, 100] } }, ({ count = 0 }) => [1, 10, 100].includes(count)],
  [{ ratio: 5 / 7 }, ({ ratio }) => ratio === 5 / 7],
  [{ ratio: { $gt: 5 / 7, $lte: 9 / 7 } }, ({ ratio = 0 }) => ratio > 5 / 7 && ratio <= 9 / 7],
  [{ ratio: 3 }, ({ ratio }) => ratio === 3],
  [{ at: new Date(DAY_1) }, ({ at }) => at?.getTime() === DAY_1],
  [{ at: { $lt: new Date(0) } }, ({ at }) => (at?.getTime() ?? 0) < 0],
  [{ at: { $gte: new Date(DAY_1) } }, ({ at }) => (at?.getTime() ?? 0) >= DAY_1],
  [{ tags: 'tag-2' }, ({ tags = [] }) => tags.includes('tag-2')],
  [
    { tags: { $in: ['tag-1', 'tag-3'] } },
    ({ tags = [] }) => tags.includes('tag-1') || tags.includes('tag-3'),
  ],
  [{ tags: { $gt: 'tag-3' } }, ({ tags = [] }) => tags.some((tag) => tag > 'tag-3')],
  [{ tags: { $size: 0 } }, ({ tags }) => tags?.length === 0],
  [{ anything: 7 }, ({ anything }) => anything === 7],
  [{ anything: 4 }, ({ anything }) => Array.isArray(anything) && anything.includes(4)],
  [{ anything: true }, ({ anything }) => anything === true],
  [
    { anything: { $gte: 50 } },
    ({ anything }) => [anything].flat().some((x) => typeof x === 'number' && x >= 50),
  ],
  [
    { $and: [{ account: 'account-1' }, { count: { $lt: 20 } }] },
    ({ account, count = 0 }) => account === 'account-1' && count < 20,
  ],
  [{ $or: [{ count: 3 }, { name: 'ärger' }] }, ({ count, name }) => count === 3 || name === 'ärger'],
];
