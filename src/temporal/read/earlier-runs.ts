import type { Execution } from './visibility/visibility.js';

/** Key of the memo of a run that resends a delivery. */
export const RESEND_MEMO = 'resend';

/** Key of the memo of a run that a replay has started; its value is the replay's id. */
export const REPLAY_MEMO = 'replay';

/** Key of the memo of a run that somebody has started by sending a delivery again; its value names that act. */
export const ACT_MEMO = 'act';

/** Value of the first memo: the execution that stood for the delivery before, its own or a group's. */
export interface ResendMemo {
  workflow_id: string;
  run_id: string;
}

/** The run that an execution sends again, if it does. */
export function previousRun(execution: Execution): ResendMemo | undefined {
  return execution.memo?.[RESEND_MEMO] as ResendMemo | undefined;
}
