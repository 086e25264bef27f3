import { RE2JS } from 're2js';

/**
 * Pieces of a pattern: quoted text, escapes, character classes, counted repetitions, groups, and everything else one by
 * one.
 */
const PIECES =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|\(\?[^:)]*:?|[\s\S]/g;

/** A pattern that can be run. */
export interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * Compiles a pattern of RE2, which takes time in proportion to the text, whatever the pattern.
 *
 * @throws Error if it is not a valid pattern
 */
export function compilePattern(pattern: string): Pattern {
  const compiled = RE2JS.compile(pattern);
  // Ajv tells patterns apart by their texts.
  return { test: (text) => compiled.matcher(text).find(), toString: () => `re2:${pattern}` };
}

/**
 * An upper bound of a pattern's instructions, without compiling it: counted repetitions multiply what they repeat. RE2
 * follows at most that many instructions for each character of a text.
 */
export function patternSize(pattern: string): number {
  /** For each open group: its instructions, and those of its last piece, which a repetition would repeat. */
  const groups = [{ sum: 0, last: 0 }];
  const add = (size: number) => {
    const group = groups.at(-1);
    if (group) Object.assign(group, { sum: group.sum + size, last: size });
  };
  const repeat = (atLeast: number, atMost: number) => {
    const group = groups.at(-1);
    if (!group) return;
    const open = atMost === Number.POSITIVE_INFINITY;
    const times = Math.max(1, open ? atLeast + 1 : atMost);
    const size = group.last * times + (open ? 2 : atMost - atLeast);
    group.sum += size - group.last;
    group.last = size;
  };
  for (const [piece] of pattern.matchAll(PIECES)) {
    if (piece.startsWith('(')) groups.push({ sum: 2, last: 0 });
    else if (piece === ')' && groups.length > 1) add(groups.pop()?.sum ?? 0);
    else if (piece === '*' || piece === '+') repeat(0, Number.POSITIVE_INFINITY);
    else if (piece === '?') repeat(0, 1);
    else if (/^\{\d/.test(piece)) {
      const [atLeast, atMost] = piece.slice(1, -1).split(',');
      repeat(Number(atLeast), atMost === '' ? Number.POSITIVE_INFINITY : Number(atMost ?? atLeast));
    } else add(piece.startsWith('\\Q') ? piece.length : 1);
  }
  return groups.reduce((sum, group) => sum + group.sum, 2);
}
