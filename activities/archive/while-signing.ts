import { setTimeout as wait } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { sharedNow } from '../../src/domain/time/shared-time.js';
import type { LogWrites } from '../ports.js';

/**
 * A checkpoint is signed this often while much is archived, milliseconds: with the time that it takes, once a minute at
 * least.
 */
const SIGN_EVERY_MS = 30_000;
/** The log is looked at for this long before, if it has to be, milliseconds. */
const AUDIT_MS = 5_000;

/**
 * Signs checkpoints of what is archived meanwhile, and at the end if another part follows. That nothing can be signed
 * does not stop the archive: the run's last activity fails for it.
 *
 * @param last the signed note of the last checkpoint, as far as Temporal knows
 */
export async function whileSigning<P extends { is_last: boolean }>(
  log: LogWrites,
  last: string | undefined,
  archive: () => Promise<P>,
): Promise<P & { checkpoint?: string }> {
  const done = new AbortController();
  let checkpoint = last;
  const sign = async () => {
    try {
      if (await log.audit(sharedNow() + AUDIT_MS)) ({ checkpoint } = await log.publish(checkpoint));
    } catch (error) {
      Context.current().log.warn('No checkpoint was signed while the archive runs.', { error });
    }
  };
  const signing = (async () => {
    for (;;) {
      await wait(SIGN_EVERY_MS, undefined, { signal: done.signal }).catch(() => undefined);
      if (done.signal.aborted) return;
      await sign();
    }
  })();
  let part: P;
  try {
    part = await archive();
  } finally {
    done.abort();
    await signing;
  }
  if (!part.is_last) await sign();
  return { ...part, ...(checkpoint !== undefined && { checkpoint }) };
}
