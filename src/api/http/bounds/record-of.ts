import { z } from 'zod';

/** An object of which the caller chooses the names. @param most entries that it may have */
export function recordOf<Value extends z.ZodType>(name: z.ZodString, value: Value, most: number) {
  return z
    .record(name, value)
    .refine((entries) => Object.keys(entries).length <= most, `must have at most ${most} entries`)
    .meta({ maxProperties: most });
}
