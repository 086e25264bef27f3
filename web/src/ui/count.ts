const COUNT = new Intl.NumberFormat();

/** A number of things in the reader's locale, such as 12,345. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}

const TENTHS = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A number that was measured, to one digit, in the reader's locale, such as 3.4. */
export function formatTenths(value: number): string {
  return TENTHS.format(value);
}
