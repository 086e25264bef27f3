import type { Trigger } from '../attempt/attempt.js';

/**
 * Attempts travel in two lanes. The direct one makes first attempts inside the first workflow task, which is fastest,
 * and is for healthy endpoints. Everything else goes through the isolated one, a task queue of its own, where Temporal
 * shares the slots out between endpoints: first attempts to endpoints that are slow or failing, and all later attempts.
 */
export function isolatedQueue(taskQueue: string): string {
  return `${taskQueue}-isolated`;
}

/** Priority keys of Temporal: if there is a backlog, a smaller one goes first. */
const PRIORITIES = { fresh: 2, retry: 3, replay: 4 } as const;

/**
 * The priority of an attempt in the isolated lane: first attempts, and those that somebody waits for, before retries,
 * and these before what is sent again or was parked, which is in no hurry.
 */
export function attemptPriority(trigger: Trigger, number: number, isResend: boolean): number {
  if (trigger === 'released' || (isResend && number === 1)) return PRIORITIES.replay;
  return trigger === 'manual' || trigger === 'probe' || number === 1 ? PRIORITIES.fresh : PRIORITIES.retry;
}
