import { z } from 'zod';
import type { Filter } from './match-filter.js';
import { findMistake } from './read-filter.js';

/** A filter within its bounds (`filter-bounds.ts`), with the first mistake where it is. */
export const filterSchema = z.unknown().transform((value, context): Filter => {
  const mistake = findMistake(value);
  if (!mistake) return value as Filter;
  context.issues.push({
    code: 'custom',
    message: mistake.detail,
    path: [...mistake.place],
    input: undefined,
  });
  return z.NEVER;
});
