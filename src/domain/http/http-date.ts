const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = String.raw`(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d):(?<second>[0-5]\d|60)`;

/**
 * The three forms that a recipient must accept: IMF-fixdate, and of old servers RFC 850's and that of C's `asctime`.
 */
const FORMS = [
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d{2}) ${MONTH} (?<year>\d{4}) ${TIME} GMT`,
  String.raw`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d{2})-${MONTH}-(?<year>\d{2}) ${TIME} GMT`,
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>\d{2}| \d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** A year of two digits is never further ahead than this. */
const MOST_YEARS_AHEAD = 50;

/**
 * Reads an HTTP date (RFC 9110, section 5.6.7). Whether the day of the week fits is not looked at.
 *
 * @param now milliseconds since the epoch, by which a year of two digits is completed
 * @returns milliseconds since the epoch; `undefined` if it has none of the three forms, or there is no such day
 */
export function parseHttpDate(text: string, now: number): number | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (!parts) return undefined;
  const { day = '', month = '', year = '', hour, minute, second } = parts;
  const midnight = (fullYear: number) => Date.UTC(fullYear, MONTHS.indexOf(month), Number(day));
  const timeOfDay = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000;

  let start = midnight(Number(year));
  if (year.length === 2) {
    const latest = new Date(now);
    latest.setUTCFullYear(latest.getUTCFullYear() + MOST_YEARS_AHEAD);
    const century = Math.floor(latest.getUTCFullYear() / 100) * 100;
    start = midnight(century + Number(year));
    if (start + timeOfDay > latest.getTime()) start = midnight(century - 100 + Number(year));
  }
  return new Date(start).getUTCDate() === Number(day) ? start + timeOfDay : undefined;
}
