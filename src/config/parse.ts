import { z } from 'zod';

/** A setting that is `true` or `false`. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** The parts of a text that are separated by commas, without space around them. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Lets a parser that throws speak through the schema, so that the setting is named. */
export function asIssue<T>(parse: (text: string) => T) {
  return (text: string, context: z.RefinementCtx): T => {
    try {
      return parse(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  };
}
