import type { Verdict } from './verdict.js';

/** The workflow task of an execution, which decides what comes next there, and has failed since it last succeeded. */
export interface FailingTask {
  /** How many tries are known to have failed: Temporal does not count those before the latest event. */
  failures: number;
  /** When the first of them failed. ISO 8601, UTC. */
  since: string;
}

/**
 * A worker that is killed loses the task that it has, so one failure says nothing of the code. For a second failure it
 * is likely.
 */
const FAILURES_OF_CODE = 2;

/**
 * Whether a workflow task keeps failing: for an execution that cannot go on, some 10 s after it could for the last
 * time, because Temporal waits as long for a second try.
 */
export function keepsFailing({ failures }: FailingTask): boolean {
  return failures >= FAILURES_OF_CODE;
}

/** Work that stands still while a workflow task keeps failing. */
const STANDS_STILL = {
  delivery: 'the delivery',
  fan_out: "starting the event's deliveries",
} as const;

/** Why something stands still whose workflow task keeps failing. The operator sees the cause, the account does not. */
export function explainFailing({ failures, since }: FailingTask, what: keyof typeof STANDS_STILL): Verdict {
  return {
    code: 'workflow_failing',
    summary:
      `Hookline cannot go on with ${STANDS_STILL[what]}: the workflow task has failed since ${since}, at least ${failures} times. ` +
      'The operator of the installation must act: see the runbook of the alert HooklineWorkflowTasksFail. ' +
      'Nothing is lost: everything stays as it is, and goes on once a worker runs with the code and the keys that it needs.',
    since,
  };
}
