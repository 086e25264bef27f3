import {
  condition,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.js';
import type { AlertChannel } from '../src/domain/alert/alert.js';
import { type AlertDigest, AlertInbox, type AlertInboxState } from '../src/domain/alert/alert-inbox.js';
import { raiseAlert } from './messages.js';

export interface AlertPeopleInput {
  channel: AlertChannel;
  /** How long a failing endpoint may recover before anybody is alerted, milliseconds. */
  hold_ms: number;
  /** The least time between two messages, milliseconds. */
  interval_ms: number;
  /** Present if the run continues another one. */
  so_far?: AlertPeopleSoFar;
}

interface AlertPeopleSoFar {
  inbox: AlertInboxState;
  messages: number;
  /** When the next message may be sent, milliseconds since the epoch. */
  next_at: number;
}

/** A mail server may take so long for a message. */
const MESSAGE_TIMEOUT = '1m';

/** Tried for so long, then given up: what is a day old helps nobody. */
const { sendAlerts } = proxyActivities<Activities>({
  startToCloseTimeout: MESSAGE_TIMEOUT,
  scheduleToCloseTimeout: '1d',
  retry: { initialInterval: '1s', maximumInterval: '5m' },
});

/**
 * Brings alerts to people over one channel: at once, or together if there are many, and each once. It runs while
 * something waits, and for a while after a message, so that what happens then goes together.
 *
 * @returns how many messages were sent
 */
export async function alertPeople(input: AlertPeopleInput): Promise<{ messages: number }> {
  const { channel, hold_ms, interval_ms, so_far } = input;
  const inbox = new AlertInbox(hold_ms, so_far?.inbox);
  let { messages, next_at } = so_far ?? { messages: 0, next_at: 0 };
  let hasNews = false;
  setHandler(raiseAlert, (alert) => {
    inbox.add(alert);
    hasNews = true;
  });
  // A cancellation is for the wait or the message that is under way.
  const full = condition(() => workflowInfo().continueAsNewSuggested).then(
    () => true,
    () => false,
  );
  for (;;) {
    hasNews = false;
    // Alerts may pour in while none may be sent, and Temporal takes no more than 10,000 signals for a run.
    if (workflowInfo().continueAsNewSuggested) await carryOn();
    const wakeAt = Math.max(inbox.nextAt ?? 0, next_at);
    if (wakeAt > Date.now()) {
      await condition(() => hasNews, wakeAt - Date.now(), { summary: 'until the next message' });
      continue;
    }
    if (inbox.nextAt === undefined) return { messages };
    const digest = inbox.take(Date.now());
    const sending = send(digest);
    // They may also pour in while a message is tried for hours. It is tried by the next run then.
    const isFull = await Promise.race([sending.then(() => false), full]);
    if (isFull) {
      inbox.putBack(digest);
      await carryOn();
    }
    if (await sending) messages += 1;
    next_at = Date.now() + interval_ms;
  }

  async function carryOn(): Promise<void> {
    await continueAsNew<typeof alertPeople>({
      ...input,
      so_far: { inbox: inbox.state, messages, next_at },
    });
  }

  /** @returns whether it was sent */
  async function send(digest: AlertDigest): Promise<boolean> {
    try {
      await sendAlerts({ channel, ...digest });
      setCurrentDetails(`${messages + 1} messages sent.`);
      return true;
    } catch {
      inbox.lost(digest);
      setCurrentDetails('A message could not be sent for a day, and was given up.');
      return false;
    }
  }
}
