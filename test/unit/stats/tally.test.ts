import assert from 'node:assert/strict';
import { pino } from 'pino';
import { keepTallies } from '../../../src/bin/service/counts/tallies.js';
import { slotsOf, sumOf } from '../../../src/domain/stats/closed-count.js';
import type { Closing } from '../../../src/domain/stats/closing.js';
import { spansWithin, Tally, type TallyRow } from '../../../src/domain/stats/tally.js';

const closing: Closing = {
  account_id: 'acct_1',
  event_id: 'evt_1',
  endpoint_id: 'ep_1',
  event_kind: 'purchase',
  status: 'delivered',
  attempts: 2,
};
const at = (time: string) => Date.parse(`2026-11-21T${time}Z`);

describe('a tally', () => {
  it('adds what is of the same endpoint, kind and slot into one row for each resolution', () => {
    const tally = new Tally();
    tally.add(closing, at('10:04:59.999'));
    tally.add({ ...closing, status: 'exhausted', attempts: 10 }, at('10:00:00.000'));
    tally.add(closing, at('10:59:59.999'));
    const { rows, lost } = tally.take();
    assert.equal(lost, 0);
    assert.deepEqual(
      rows.map(({ resolution, span, slots }) => [resolution, new Date(span).toISOString(), slots]),
      [
        [
          '5m',
          '2026-11-21T10:00:00.000Z',
          { 0: { delivered: 1, exhausted: 1, attempts: 12 }, 11: { delivered: 1, attempts: 2 } },
        ],
        ['1h', '2026-11-21T00:00:00.000Z', { 10: { delivered: 2, exhausted: 1, attempts: 14 } }],
      ],
    );
    assert.deepEqual(tally.take().rows, []);
  });

  it('counts a slot in a period that begins with it, and not in one that ends with it', () => {
    const tally = new Tally();
    tally.add(closing, at('10:07:00'));
    const rows = tally.take().rows.filter(({ resolution }) => resolution === '5m');
    const within = (from: string, to: string) => sumOf(slotsOf(rows, at(from), at(to))).deliveries;
    assert.equal(within('10:05:00', '10:10:00'), 1);
    assert.equal(within('10:00:00', '10:05:00'), 0);
    assert.equal(within('10:10:00', '10:15:00'), 0);
    assert.deepEqual(
      spansWithin('5m', at('09:59:59'), at('11:00:00')).map((span) =>
        new Date(span).toISOString().slice(11, 16),
      ),
      ['09:00', '10:00', '11:00'],
    );
  });

  it('keeps what could not be written, together with what came meanwhile', async () => {
    const written: TallyRow[] = [];
    let isDown = true;
    const add = async (rows: readonly TallyRow[]): Promise<void> => {
      if (isDown) throw new Error('out of reach');
      written.push(...rows);
    };
    const tallies = keepTallies({ add }, pino({ level: 'silent' }));
    tallies.tally.add(closing, at('10:00:00'));
    await tallies.write();
    tallies.tally.add(closing, at('10:01:00'));
    isDown = false;
    await tallies.stop();
    assert.deepEqual(
      written.map(({ slots }) => slots),
      [{ 0: { delivered: 2, attempts: 4 } }, { 10: { delivered: 2, attempts: 4 } }],
    );
  });

  it('has a limit, and says how much it has left out', () => {
    const tally = new Tally();
    for (let index = 0; index < 25_010; index += 1)
      tally.add({ ...closing, endpoint_id: `ep_${index}` }, at('10:00:00'));
    const { rows, lost } = tally.take();
    assert.deepEqual([rows.length, lost], [50_000, 20]);
  });
});
