import assert from 'node:assert/strict';
import { retryAfterMs } from '../../../clients/typescript/src/errors.js';
import { parseHttpDate as parseOfClient } from '../../../clients/typescript/src/http-date.js';
import { parseHttpDate } from '../../../src/domain/http/http-date.js';
import { parseRetryAfter } from '../../../src/domain/http/retry-after.js';

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0, 500);

/** RFC 9110, section 5.6.7. */
const cases: [string, string, number | undefined][] = [
  ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
  ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
  ['asctime', 'Sun Nov  6 08:49:37 1994', Date.UTC(1994, 10, 6, 8, 49, 37)],
  ['asctime with a day of two digits', 'Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
  ['RFC 850 soon', 'Saturday, 31-Jan-26 12:01:00 GMT', Date.UTC(2026, 0, 31, 12, 1)],
  ['RFC 850 in 50 years', 'Friday, 31-Jan-76 12:00:00 GMT', Date.UTC(2076, 0, 31, 12)],
  [
    'RFC 850 beyond 50 years: of the past',
    'Saturday, 31-Jan-76 12:00:01 GMT',
    Date.UTC(1976, 0, 31, 12, 0, 1),
  ],
  ['RFC 850 of the next century', 'Friday, 01-Jan-00 00:00:00 GMT', Date.UTC(2000, 0, 1)],
  ['a leap day', 'Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
  ['a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
  ['a day that does not exist', 'Sun, 29 Feb 2026 00:00:00 GMT', undefined],
  ['a day beyond all months', 'Sun Jan 32 00:00:00 2026', undefined],
  ['day 0', 'Sun, 00 Jan 2026 00:00:00 GMT', undefined],
  ['an hour that does not exist', 'Sun, 01 Feb 2026 24:00:00 GMT', undefined],
  ['another zone', 'Sun, 01 Feb 2026 00:00:00 CET', undefined],
  ['RFC 850 with a short day', 'Sun, 06-Nov-94 08:49:37 GMT', undefined],
  ['asctime with a zone', 'Sun Nov  6 08:49:37 1994 GMT', undefined],
  ['ISO 8601', '2026-02-01T00:00:00Z', undefined],
  ['lower case', 'sun, 01 feb 2026 00:00:00 gmt', undefined],
  ['nothing', '', undefined],
];

for (const [whose, parse] of [
  ['the service', parseHttpDate],
  ['the client', parseOfClient],
] as const) {
  describe(`an HTTP date that ${whose} reads`, () => {
    for (const [name, text, expected] of cases)
      it(`is ${expected === undefined ? 'refused' : 'understood'}: ${name}`, () =>
        assert.equal(parse(text, NOW), expected));
  });
}

describe('Retry-After in each form of a date', () => {
  for (const date of [
    'Sat, 31 Jan 2026 12:02:00 GMT',
    'Saturday, 31-Jan-26 12:02:00 GMT',
    'Sat Jan 31 12:02:00 2026',
  ])
    it(`is heeded by the service and the client: ${date}`, () => {
      assert.equal(parseRetryAfter(date, NOW), 119_500);
      assert.equal(retryAfterMs(date, NOW), 119_500);
    });

  it('is not heeded by the client if it is no date', () => {
    for (const text of ['-5', '1.5', '5s', 'tomorrow', '2026-02-01T00:00:00Z'])
      assert.equal(retryAfterMs(text, NOW), undefined, text);
  });
});
