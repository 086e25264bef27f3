import { sleep } from '@temporalio/workflow';

/** What must not be released: a delivery that waits before its first attempt, over histories of ones that did not. */
export async function deliverEvent(): Promise<void> {
  await sleep('1 minute');
}
