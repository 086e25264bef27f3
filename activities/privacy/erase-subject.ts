import { Context } from '@temporalio/activity';
import type { ErasurePlan } from '../../src/domain/privacy/erasure.js';
import type { ActivityDependencies, SubjectErasures } from '../ports.js';

/** The steps of an erasure. Each may be repeated. */
export function createErasureActivities({ erasures }: Pick<ActivityDependencies, 'erasures'>) {
  return {
    /** Records the erasure, who asked for it, and what it covers. */
    beginErasure: (plan: ErasurePlan): Promise<void> => erasures.begin(plan),

    /** @returns how many deliveries are still to end before the key may be deleted */
    countOpenOfSubject: (plan: ErasurePlan): Promise<number> => erasures.countOpen(plan),

    /** Deletes the subject's key. */
    eraseSubjectKey: (plan: ErasurePlan): Promise<void> => erasures.eraseKey(plan),

    /** Cancels what is open. @returns how many were cancelled, and how many are open still */
    cancelOpenOfSubject: (plan: ErasurePlan): ReturnType<SubjectErasures['cancelOpen']> =>
      erasures.cancelOpen(plan, () => Context.current().heartbeat()),

    /** Records that nothing of the subject is open any more. */
    completeErasure: ({ plan, cancelled }: { plan: ErasurePlan; cancelled: number }): Promise<void> =>
      erasures.complete(plan, cancelled),
  };
}
