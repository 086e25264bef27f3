import { z } from 'zod';
import type { Filter } from '../../../packages/payload-contract/src/filter/index.js';
import { findMistake } from '../../../packages/payload-contract/src/filter/index.js';

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
