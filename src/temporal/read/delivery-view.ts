import { UNITS } from '../../domain/basics/duration.js';
import type { Execution } from './visibility/visibility.js';

/** When what an execution stands for was started. Others than its first run say so. ISO 8601, UTC. */
export function startedAt(execution: Execution): string {
  return (execution.memo?.['created_at'] as string | undefined) ?? execution.startTime.toISOString();
}

/** Machines' clocks differ, and a start may be recorded as a moment before its event was accepted. Milliseconds. */
export const CLOCKS_DIFFER_MS = UNITS.m;
