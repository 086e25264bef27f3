/** The bounds of one filter, and of all filters of an account: what comparing an event with them costs. */
export const FILTER_BOUNDS = {
  depth: 5,
  conditions: 50,
  /** Values of a list. */
  values: 100,
  /** Characters of a path, and of a text that is compared. */
  text: 256,
  /** Names and indexes of a path. */
  levels: 16,
  /** Characters of a filter as JSON. */
  size: 16 * 1024,
  /**
   * Characters of all filters of an account as JSON. The cost of a filter grows with its text: a condition takes 30
   * characters at least, and 2 for each level of its path. At this size no event takes more than about 20 ms to be
   * compared with them.
   */
  sizeOfAll: 1024 * 1024,
} as const;
