import { z } from 'zod';

/** Shapes that answers of several resources have. They document; answers are not filtered through them. */

export const timeSchema = z.iso.datetime().describe('ISO 8601, UTC');

/** A list's answer. */
export function pageOf<T extends z.ZodType>(row: T) {
  return z.object({
    data: z.array(row),
    paging: z.object({
      cursors: z.object({ after: z.string().optional() }),
      next: z.string().optional().describe('Path of the next page; absent on the last'),
    }),
  });
}

export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe('Stable: build on it'),
  request_id: z.string(),
  errors: z
    .array(
      z.object({
        pointer: z.string().optional().describe('JSON Pointer into the body'),
        parameter: z.string().optional().describe('Name of a parameter or header'),
        detail: z.string(),
      }),
    )
    .optional(),
});
