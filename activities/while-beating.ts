import { Context } from '@temporalio/activity';

/** How often an activity shows that its process lives, milliseconds: a part of the workflow's `heartbeatTimeout`. */
const HEARTBEAT_MS = 2_000;

/** Does work that takes long, and shows Temporal meanwhile that its process lives. */
export async function whileBeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
  }
}
