import assert from 'node:assert/strict';
import { newId } from '../../../src/domain/basics/ids.js';
import { RecordReader } from '../../../src/models/records/record-reader.js';

const FROM = Date.parse('2026-03-01T00:00:00.000Z');
/** More than are read at once, twice. */
const EVENTS = 120;

describe('an export of many events', () => {
  const ids = Array.from({ length: EVENTS }, (_, index) => newId('event', FROM + index)).sort();

  /** Answers as the database does to the one query that there is for events. */
  const find = ({ _id }: { _id: { $gte?: string; $gt?: string; $lt: string } }) => {
    const { $gte = '', $gt = '', $lt } = _id;
    const found = ids.filter((id) => id >= $gte && id > $gt && id < $lt);
    const documents = (limit: number) => found.slice(0, limit).map((id) => ({ _id: id }));
    return { sort: () => ({ limit: (limit: number) => ({ lean: async () => documents(limit) }) }) };
  };
  const unaltered = {
    opened: async () => [],
    event: async ({ _id: id }: { _id: string }) => ({ event: { id } }),
  };
  const models = { deliveries: { find: () => ({ lean: async () => [] }) }, events: { find } };
  const parts = [{ models }, { sealer: undefined }];
  const records = new RecordReader(...(parts as unknown as ConstructorParameters<typeof RecordReader>));
  Object.assign(records, { unaltered });
  const read = async (from: number, to: number, first?: string) => {
    const period = { from: new Date(from), to: new Date(to) };
    const read: string[] = [];
    for await (const { event } of records.export('acct_1', period, first)) read.push(event.id);
    return read;
  };

  it('has each of them once and in order, from one time until before another', async () => {
    assert.deepEqual(await read(FROM, FROM + EVENTS), ids);
    assert.deepEqual(await read(FROM + 1, FROM + EVENTS - 1), ids.slice(1, -1));
  });

  it('goes on with any of them, if it is of the period', async () => {
    assert.deepEqual(await read(FROM, FROM + EVENTS, ids[60]), ids.slice(60));
    assert.deepEqual(await read(FROM + 70, FROM + EVENTS, ids[60]), ids.slice(70));
  });
});
