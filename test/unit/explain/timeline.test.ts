import assert from 'node:assert/strict';
import type { Attempt } from '../../../src/domain/attempt/attempt.js';
import { newId } from '../../../src/domain/basics/ids.js';
import type { ShownRecord } from '../../../src/domain/delivery/delivery.js';
import { changesOf, NOTHING_YET, timelineOf, timelineText } from '../../../src/domain/explain/timeline.js';

const AT = '2026-03-01T12:00:00.000Z';
const later = (seconds: number) => new Date(Date.parse(AT) + seconds * 1_000).toISOString();

const attempt = (more: Partial<Attempt>): Attempt => ({
  number: 1,
  at: AT,
  duration_ms: 20,
  url: 'https://example.com/hook',
  trigger: 'schedule',
  ...more,
});
const parked = (reason: string): ShownRecord => ({ status: 'parked', attempts: [], reason });

describe('a timeline', () => {
  it('says how each attempt came about and ended', () => {
    const cases: [Partial<Attempt>, string][] = [
      [{ status_code: 204 }, 'Attempt 1 got a 204 response, after 20 ms.'],
      [
        { error_code: 'timeout', error: 'no response within 5s', trigger: 'retry_after' },
        'Attempt 1 (when its Retry-After asked for it) failed: no response within 5s, after 20 ms.',
      ],
      [
        { number: 3, status_code: 500, trigger: 'released' },
        'Attempt 3 (released) got a 500 response, after 20 ms.',
      ],
    ];
    for (const [more, text] of cases) {
      const after = { ...NOTHING_YET, attempts: [attempt(more)] };
      assert.equal(changesOf(NOTHING_YET, after, later(1))[0]?.text, text);
    }
  });

  it('tells a delivery that waits for a failing endpoint from one that is parked', () => {
    const text = 'The endpoint is failing: since 11:59, so new deliveries wait.';
    const failing: ShownRecord = { ...parked(text), cause: { code: 'endpoint', status: 'failing' } };
    assert.deepEqual(
      [failing, parked('The endpoint is paused.')].map(
        (record) => changesOf(NOTHING_YET, record, AT)[0]?.type,
      ),
      ['incident', 'parked'],
    );
  });

  it('says nothing where nothing has changed, and a pause once', () => {
    const record = parked('The endpoint is paused.');
    assert.deepEqual(changesOf(record, { ...record }, AT), []);
    const paused: ShownRecord = {
      ...parked('Paused by ada.'),
      interventions: [{ action: 'pause', at: AT, by: 'ada' }],
    };
    assert.deepEqual(
      changesOf(NOTHING_YET, paused, AT).map(({ text }) => text),
      ['Paused by ada.'],
    );
  });

  it('has attempts where they began, the end where every view has it, and lines in columns', () => {
    const event_id = newId('event', Date.parse(AT) - 5);
    const end: ShownRecord = { status: 'delivered', attempts: [attempt({ status_code: 200 })] };
    const items = timelineOf(
      { event_id, event_kind: 'purchase', payload_bytes: 2 },
      [
        {
          started: { at: later(-0.001), type: 'started', text: 'Started.' },
          before: NOTHING_YET,
          entries: [
            { item: { at: later(0.01), type: 'released', text: 'Released.' } },
            { at: later(1), record: end },
          ],
        },
      ],
      { closedAt: later(2) },
    );
    assert.deepEqual(
      items.map(({ type }) => type),
      ['accepted', 'started', 'attempt', 'released', 'closed'],
    );
    assert.equal(items.at(-1)?.at, later(2));
    assert.deepEqual(
      timelineText(items)
        .split('\n')
        .map((line) => line.slice(0, 34)),
      [
        '2026-03-01T11:59:59.995Z  accepted',
        '2026-03-01T11:59:59.999Z  started ',
        '2026-03-01T12:00:00.000Z  attempt ',
        '2026-03-01T12:00:00.010Z  released',
        '2026-03-01T12:00:02.000Z  closed  ',
        '',
      ],
    );
  });
});
