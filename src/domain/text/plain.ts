import { stripVTControlCharacters } from 'node:util';

/**
 * Characters that a terminal acts upon, or that let a text look like another: control characters, ends of lines, and
 * marks of the direction of writing (UAX #9).
 */
const ACTED_UPON = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** Text of others on one line, without what a terminal would act upon. Whatever comes from outside is shown so. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(ACTED_UPON, ' ');
}

/** Text of others within a sentence of ours, in quotation marks that it cannot end. */
export function quoted(text: string): string {
  return JSON.stringify(plain(text));
}
