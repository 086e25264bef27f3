import { CancellationScope, continueAsNew, proxyActivities, sleep, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { ErasurePlan } from '../src/domain/privacy/erasure.js';
import { TIMINGS, type Timings } from '../src/domain/timings.js';

/** An erasure, and how far it is if the run continues another one. */
export interface EraseSubjectInput {
  plan: ErasurePlan;
  so_far?: { is_erased: boolean; cancelled: number };
  timings?: Timings;
}

const { beginErasure, countOpenOfSubject, eraseSubjectKey, cancelOpenOfSubject, completeErasure } =
  proxyActivities<Activities>({
    startToCloseTimeout: '10m',
    heartbeatTimeout: '30s',
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  });

/**
 * Erases a subject: deletes the key of its payloads, and cancels what is open. Asked to, it first waits for open
 * deliveries to end. An erasure that has begun is carried out: a cancellation in Temporal does not stop it.
 */
export async function eraseSubject(input: EraseSubjectInput): Promise<{ cancelled: number }> {
  return CancellationScope.nonCancellable(() => erase(input));
}

async function erase({ so_far, ...input }: EraseSubjectInput): Promise<{ cancelled: number }> {
  const { plan } = input;
  const timings = { ...TIMINGS, ...input.timings };
  let { is_erased, cancelled } = so_far ?? { is_erased: false, cancelled: 0 };
  const carryOn = () => continueAsNew<typeof eraseSubject>({ ...input, so_far: { is_erased, cancelled } });

  if (!so_far) await beginErasure(plan);
  if (!is_erased) {
    if (plan.open === 'finish') await untilNone(() => countOpenOfSubject(plan), timings, carryOn);
    await eraseSubjectKey(plan);
    is_erased = true;
    cancelled += (await cancelOpenOfSubject(plan)).cancelled;
    await sleep(timings.keys_remembered_ms);
  }
  const cancelSome = async (): Promise<number> => {
    const result = await cancelOpenOfSubject(plan);
    cancelled += result.cancelled;
    return result.open;
  };
  await untilNone(cancelSome, timings, carryOn);
  await completeErasure({ plan, cancelled });
  return { cancelled };
}

/** Looks again and again, until nothing is left. @param carryOn when the history gets long */
async function untilNone(
  look: () => Promise<number>,
  { search_again_ms, search_again_at_last_ms: longest }: Timings,
  carryOn: () => Promise<never>,
): Promise<void> {
  for (let pause = search_again_ms; (await look()) > 0; pause = Math.min(2 * pause, longest)) {
    if (workflowInfo().continueAsNewSuggested) await carryOn();
    await sleep(pause);
  }
}
