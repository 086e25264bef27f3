import { Context } from '@temporalio/activity';
import type { ErasurePlan } from '../../src/domain/privacy/erasure.js';
import type { ActivityDependencies, SubjectErasures } from '../ports.js';

/** An erasure that is over. */
interface Completion {
  plan: ErasurePlan;
  cancelled: number;
}

/** The steps of an erasure. Each may be repeated. */
interface ErasureActivities {
  /** Records the erasure, who asked for it, and what it covers. */
  beginErasure(plan: ErasurePlan): Promise<void>;
  /** @returns how many deliveries are still to end before the key may be deleted */
  countOpenOfSubject(plan: ErasurePlan): Promise<number>;
  /** Deletes the subject's key. */
  eraseSubjectKey(plan: ErasurePlan): Promise<void>;
  /** Cancels what is open. @returns how many were cancelled, and how many are open still */
  cancelOpenOfSubject(plan: ErasurePlan): ReturnType<SubjectErasures['cancelOpen']>;
  /** Records that nothing of the subject is open any more. */
  completeErasure(completion: Completion): Promise<void>;
}

export function createErasureActivities({
  erasures,
}: Pick<ActivityDependencies, 'erasures'>): ErasureActivities {
  return {
    beginErasure: (plan) => erasures.begin(plan),
    countOpenOfSubject: (plan) => erasures.countOpen(plan),
    eraseSubjectKey: (plan) => erasures.eraseKey(plan),
    cancelOpenOfSubject(plan) {
      const context = Context.current();
      return erasures.cancelOpen(plan, () => context.heartbeat());
    },
    completeErasure: ({ plan, cancelled }) => erasures.complete(plan, cancelled),
  };
}
