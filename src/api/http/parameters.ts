import { z } from 'zod';
import { formatDuration, parseDuration, UNITS } from '../../domain/basics/duration.js';

/** A duration such as `24h`. @param least milliseconds @param most milliseconds */
export function durationSchema(least: number, most: number) {
  const bounds = `from ${formatDuration(least)} to ${formatDuration(most)}`;
  return z
    .string()
    .refine(
      (text) => isWithin(text, least, most),
      `must be a duration ${bounds}, such as ${formatDuration(most)}`,
    );
}

function isWithin(text: string, least: number, most: number): boolean {
  try {
    const ms = parseDuration(text);
    return least <= ms && ms <= most;
  } catch {
    return false;
  }
}

/**
 * How long an old secret stays valid beside the new one: a duration up to seven days.
 *
 * @param fallback used if it is left out
 */
export function overlapSchema(fallback: string) {
  return durationSchema(0, 7 * UNITS.d).default(fallback);
}

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
      openapi: {
        type: 'array',
        items: { type: 'string', enum: [...values] },
        minItems: 1,
        uniqueItems: true,
      },
      examples: [values.slice(1, 3)],
      description,
    });
}
