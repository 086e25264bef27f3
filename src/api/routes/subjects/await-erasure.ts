import { setTimeout as delay } from 'node:timers/promises';
import type { Erasure, OpenRule } from '../../../domain/privacy/erasure.js';

/** How long a request waits for the key to be deleted, milliseconds. It takes some hundredths of a second. */
const WAIT_MS = 3_000;
const POLL_MS = 50;

/**
 * Waits a while for an erasure: until its key is deleted, or it waits for open deliveries.
 *
 * @returns it as it is then; `undefined` if it has not begun
 */
export async function untilErased(
  read: () => Promise<Erasure | undefined>,
  open: OpenRule,
): Promise<Erasure | undefined> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const erasure = await read();
    const waits = open === 'finish' && erasure && erasure.covered.open_deliveries > 0;
    if (waits || erasure?.erased_at !== undefined || Date.now() >= deadline) return erasure;
    await delay(POLL_MS);
  }
}
