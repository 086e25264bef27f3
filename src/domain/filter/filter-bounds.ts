/** The bounds of one filter, and of all filters of an account: what comparing an event with them costs. */

export const MAX_FILTER_DEPTH = 5;
export const MAX_FILTER_CONDITIONS = 50;
/** Values of a list. */
export const MAX_FILTER_VALUES = 100;
/** Characters of a path, and of a text that is compared. */
export const MAX_FILTER_TEXT = 256;
/** Names and indexes of a path. */
export const MAX_PATH_LEVELS = 16;
/** Characters of a filter as JSON. */
export const MAX_FILTER_SIZE = 16 * 1024;
/**
 * Characters of all filters of an account as JSON. What a filter costs grows with its text: a condition takes 30 characters at least, and 2 for
 * each level of its path. At this size no event takes more than about 20 ms to be compared with them.
 */
export const MAX_FILTERS_SIZE = 1024 * 1024;
