import { z } from 'zod';

/** A setting that is `true` or `false`. */
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** A text that is not empty, and one that need not be given. */
export const text = z.string().min(1);
export const optionalText = text.optional();

/** A whole number from one to another, and what it is where none is given. */
export const whole = (least: number, most: number) => z.coerce.number().int().min(least).max(most);
export const wholeOr = (fallback: number, least: number, most: number) =>
  whole(least, most).default(fallback);

/** An address over HTTP, and one that need not be given and that paths are put behind. */
export const webUrl = z.url({ protocol: /^https?$/ });
export const optionalBaseUrl = webUrl.transform((url) => url.replace(/\/+$/, '')).optional();

/** The parts of a text that are separated by commas, without space around them. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A list of such parts. */
export const list = z.string().default('').transform(splitList);

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

/** Setting that a parser reads from a text, with the text where none is given. */
export const parsed = <T>(parse: (text: string) => T) => z.string().transform(asIssue(parse));
export const parsedOr = <T>(fallback: string, parse: (text: string) => T) =>
  z.string().default(fallback).transform(asIssue(parse));
