import { Context } from '@temporalio/activity';
import type { ErasurePlan } from '../../src/domain/privacy/erasure.js';

/** Steps of an erasure. Everything may be repeated. */
export interface SubjectErasures {
  /** Records the erasure, and what it covers. */
  begin(plan: ErasurePlan): Promise<void>;
  /** Open deliveries of the subject that were accepted before the erasure was asked for. */
  countOpen(plan: ErasurePlan): Promise<number>;
  eraseKey(plan: ErasurePlan): Promise<void>;
  cancelOpen(plan: ErasurePlan, onProgress: () => void): Promise<{ open: number; cancelled: number }>;
  /** @param cancelled deliveries that were cancelled */
  complete(plan: ErasurePlan, cancelled: number): Promise<void>;
}

/** The steps of an erasure. Each may be repeated. */
export function createErasureActivities({ erasures }: { erasures: SubjectErasures }) {
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
