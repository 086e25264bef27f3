import { z } from 'zod';

/** A query parameter with one or more of some values, separated by commas, or repeated as some generated clients do. */
export function listParameter<const Value extends string>(values: readonly Value[], description: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((texts, context): Value[] => {
      const names = [texts].flat().flatMap((text) => text.split(','));
      if (!names.every((name) => (values as readonly string[]).includes(name)))
        context.addIssue({ code: 'custom', message: `must be one or more of: ${values.join(', ')}` });
      return values.filter((value) => names.includes(value));
    })
    .optional()
    .meta({
      openapi: { type: 'array', items: { enum: [...values] }, minItems: 1, uniqueItems: true },
      examples: [values.slice(1, 3)],
      description,
    });
}
