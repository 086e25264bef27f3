import assert from 'node:assert/strict';
import { parseDeliverAfter, parseDeliverAt } from '../../../src/domain/http/deliver-at.js';

describe('when an event is to be delivered', () => {
  const NOW = Date.UTC(2026, 10, 28, 12);
  const times: [text: string, iso: string | undefined][] = [
    ['2026-12-24T18:00:00Z', '2026-12-24T18:00:00.000Z'],
    ['2026-12-24T18:00:00.250+01:00', '2026-12-24T17:00:00.250Z'],
    ['Thu, 24 Dec 2026 18:00:00 GMT', '2026-12-24T18:00:00.000Z'],
    ['2026-12-24T18:00:00', undefined],
    ['2026-12-24', undefined],
    ['2026-13-24T18:00:00Z', undefined],
    ['1798135200', undefined],
    ['tomorrow', undefined],
  ];
  for (const [text, iso] of times)
    it(`${text} is ${iso ?? 'no time'}`, () => {
      const at = parseDeliverAt(text, NOW);
      assert.equal(at === undefined ? undefined : new Date(at).toISOString(), iso);
    });

  const durations: [text: string, seconds: number | undefined][] = [
    ['0', 0],
    ['7200', 7_200],
    ['PT2H', 7_200],
    ['P1DT1H1M1S', 90_061],
    ['P2W', 1_209_600],
    ['P365D', 31_536_000],
    ['P', undefined],
    ['PT', undefined],
    ['P1M', undefined],
    ['P1Y', undefined],
    ['-5', undefined],
    ['2h', undefined],
    ['999999999', undefined],
  ];
  for (const [text, seconds] of durations)
    it(`${text} is ${seconds === undefined ? 'no duration' : `${seconds} s`}`, () => {
      assert.equal(parseDeliverAfter(text), seconds === undefined ? undefined : seconds * 1_000);
    });
});
