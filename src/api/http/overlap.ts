import { z } from 'zod';
import { parseDuration } from '../../domain/basics/duration.js';

const LONGEST_OVERLAP_MS = 7 * 86_400_000;

/** How long an old secret stays valid beside the new one: a duration up to seven days. @param fallback used if it is left out */
export function overlapSchema(fallback: string) {
  return z.string().default(fallback).refine(isOverlap, 'must be a duration from 0s to 7d, such as 24h');
}

function isOverlap(text: string): boolean {
  try {
    return parseDuration(text) <= LONGEST_OVERLAP_MS;
  } catch {
    return false;
  }
}
