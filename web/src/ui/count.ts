const COUNT = new Intl.NumberFormat();

/** A number of things in the reader's locale, such as 12,345. */
export function formatCount(count: number): string {
  return COUNT.format(count);
}
