/** Filters: conditions on a payload. This part needs no other package, and runs in browsers too. */
export { type DecidingClause, decidingClauses, describeCondition } from './deciding-clauses.js';
export { FILTER_BOUNDS } from './filter-bounds.js';
export { type Filter, matchesFilter } from './match-filter.js';
export {
  type ExactNumberAt,
  ExactValue,
  lookUp,
  type Path,
  PayloadValues,
  pathOf,
} from './payload-values.js';
export { type FilterMistake, findMistake } from './read-filter.js';
