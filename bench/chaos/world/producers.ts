import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { seeded } from '../../support/random.js';
import type { Posted } from '../check/collected.js';
import { ask } from './client.js';
import type { ChaosAccount, World } from './world.js';

/** So many events may wait for their 202 at once: more are not begun. */
const MOST_WAITING = 250;
/** The first wait before a request is sent again, and the longest. Milliseconds. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** Between two batches of events. Milliseconds. */
const BATCH_MS = 250;
/**
 * Now and then many events come at once, so that they are committed in groups: in one of so many batches, and this part
 * of all events.
 */
const BURSTS = { oneOf: 12, part: 0.4 };
/** People that events are about. */
const SUBJECTS = 150;
/** Part of the events that are scheduled, and for how much later. Seconds. */
const SCHEDULED = { part: 0.03, seconds: 3 };
/** Part of a careless account's events that are sent without `Idempotency-Key`. */
const CARELESS = 0.3;

/**
 * Producers of all accounts, which do as a sane client does: they send again until they have a 202, with the same key.
 */
export interface Producers {
  readonly posted: Posted[];
  /** Events that have no 202 yet. */
  readonly waiting: number;
  /** Ends the events of an account: it is deleted. */
  leave(accountId: string): void;
  /** Begins no more events. */
  stop(): void;
  /** Gives up what has no 202 by now, and waits for what is under way. */
  end(): Promise<void>;
}

/** @param perSecond events of all accounts together, on average */
export function startProducers(world: World, seed: number, perSecond: number): Producers {
  const random = seeded(seed ^ 0x5eed);
  const posted: Posted[] = [];
  const gone = new Set<string>();
  const sending = new Set<Promise<void>>();
  let isStopped = false;
  let isOver = false;
  let orders = 0;
  let turn = 0;

  const urls = world.links.api.map(({ port }) => `http://127.0.0.1:${port}`);
  const isPointless = (account: ChaosAccount) => isOver || gone.has(account.id);

  async function send(account: ChaosAccount, event: Posted, body: string, path: string): Promise<void> {
    turn += 1;
    for (let wait = FIRST_WAIT_MS, node = turn; !isPointless(account); node += 1) {
      const url = urls[node % urls.length] ?? '';
      const headers: Record<string, string> = {
        ...(event.key !== undefined && { 'idempotency-key': event.key }),
        ...(event.orderKey !== undefined && { 'hookline-order-key': event.orderKey }),
      };
      event.postedMs ??= Date.now();
      const answer = await ask(url, account.key, 'POST', path, { raw: body, headers });
      event.answers.push(answer.status);
      if (answer.status === 201) {
        event.scheduled = { id: answer.json.id, deliverAtMs: Date.parse(answer.json.deliver_at) };
        return;
      }
      if (answer.status === 202) {
        const { id, deliveries, delivery_count } = answer.json;
        event.acknowledgedMs ??= Date.now();
        if (!event.eventIds.includes(id)) event.eventIds.push(id);
        event.deliveryCount = delivery_count;
        if (deliveries) event.deliveryIds = deliveries.map((each: { id: string }) => each.id);
        // Some answers are lost on their way back to whoever asked: these ask again.
        if (event.key === undefined || event.answers.length > 1 || random() > 0.05) return;
      }
      // It may have been accepted, and without a key it would be another event.
      if (event.key === undefined && !answer.isRefused && answer.status !== 429) return;
      // Refused for good.
      if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) return;
      await delay(answer.retryAfterMs ?? wait * (0.5 + Math.random()));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
    if (gone.has(account.id)) event.isGivenUp = true;
  }

  function begin(account: ChaosAccount): void {
    orders += 1;
    const orderId = `order-${seed}-${orders}`;
    const subject = `customer-${Math.floor(random() * SUBJECTS)}@example.com`;
    const body = JSON.stringify({
      order_id: orderId,
      customer_email: subject,
      total: Math.round(random() * 10_000) / 100,
      items: [{ name: 'Notebook', qty: 1 + Math.floor(random() * 5) }],
      created_at: '2026-01-31T12:00:00Z',
    });
    const hasKey = !(account.isCareless && random() < CARELESS);
    const event: Posted = {
      accountId: account.id,
      orderId,
      subject,
      sha256: createHash('sha256').update(body).digest('hex'),
      ...(hasKey && { key: `key-${orderId}` }),
      ...(account.isOrdered && { orderKey: subject }),
      answers: [],
      eventIds: [],
    };
    posted.push(event);
    const path =
      hasKey && random() < SCHEDULED.part
        ? `/v18.0/scheduled_events/purchase?deliver_after=${SCHEDULED.seconds}`
        : '/v18.0/events/purchase';
    const sent = send(account, event, body, path).finally(() => sending.delete(sent));
    sending.add(sent);
  }

  const producing = (async () => {
    const mean = (perSecond * BATCH_MS) / 1_000;
    while (!isStopped) {
      const isBurst = random() * BURSTS.oneOf < 1;
      const count = Math.round(
        isBurst ? mean * BURSTS.oneOf * BURSTS.part : random() * 2 * mean * (1 - BURSTS.part),
      );
      for (let number = 0; number < count && sending.size < MOST_WAITING; number += 1) {
        const account = shared(world.accounts, random());
        if (!gone.has(account.id)) begin(account);
      }
      await delay(BATCH_MS);
    }
  })();

  return {
    posted,
    get waiting() {
      return sending.size;
    },
    leave: (accountId) => void gone.add(accountId),
    stop() {
      isStopped = true;
    },
    async end() {
      isStopped = true;
      isOver = true;
      await producing;
      await Promise.all(sending);
    },
  };
}

/** The account whose part of all events a number from 0 up to 1 is in. */
function shared(accounts: readonly ChaosAccount[], number: number): ChaosAccount {
  let left = number;
  const found = accounts.find(({ share }) => {
    left -= share;
    return left < 0;
  });
  return found ?? (accounts[0] as ChaosAccount);
}
