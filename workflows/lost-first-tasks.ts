import { workflowInfo } from '@temporalio/workflow';

/**
 * The first task of a workflow sees three events: that it was started, and that the task was scheduled and has begun. A
 * task that was lost, or whose result Temporal did not take, leaves three more: how it ended, and the next one.
 */
const EVENTS_OF_A_SECOND_TASK = 6;

/**
 * How many earlier tasks may have made the first attempts: 0 or 1. To be asked in the first task. Three messages that
 * came before the first task look the same.
 */
export function lostFirstTasks(): number {
  return workflowInfo().historyLength >= EVENTS_OF_A_SECOND_TASK ? 1 : 0;
}
