import { z } from 'zod';
import { formatDuration, parseDuration } from '../../domain/basics/duration.js';

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

const LONGEST_OVERLAP_MS = 7 * 86_400_000;

/** How long an old secret stays valid beside the new one: a duration up to seven days. @param fallback used if it is left out */
export function overlapSchema(fallback: string) {
  return durationSchema(0, LONGEST_OVERLAP_MS).default(fallback);
}
