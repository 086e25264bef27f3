import { setTimeout as delay } from 'node:timers/promises';
import { sendSteadily } from '../support/load.js';
import { startReceiver } from '../support/receiver.js';
import type { BenchAccount, BenchServers } from '../support/system.js';
import { until } from '../support/until.js';
import { startSteadily } from './bare-starts.js';
import { BARE_STARTS_PER_SECOND, EVENTS_PER_SECOND, LEAD_SECONDS, type Travel } from './travel.js';

/** Input of a bystander when it begins: its account, and where Temporal is. */
export type Customer = Pick<BenchServers, 'temporalAddress' | 'namespace'> &
  Pick<BenchAccount, 'url' | 'key'>;

const LIMIT_MS = 600_000;

const customer: Customer = JSON.parse(process.argv[2] ?? '');
const receiver = await startReceiver();
const arrivedAt = (id: string) => receiver.arrivals.get(`${id} /`);

async function travel(ended: AbortSignal): Promise<Travel> {
  const sending = Promise.all([
    sendSteadily(customer, EVENTS_PER_SECOND, ended),
    startSteadily(customer, BARE_STARTS_PER_SECOND, ended),
  ]);
  await delay(LEAD_SECONDS * 1_000);
  process.send?.('on its way');
  const [allSent, allStarts] = await sending;
  const sent = allSent.slice(LEAD_SECONDS * EVENTS_PER_SECOND);
  const bareStart = allStarts.slice(LEAD_SECONDS * BARE_STARTS_PER_SECOND);
  await until(() => sent.every(({ id }) => arrivedAt(id) !== undefined), LIMIT_MS);
  return { event: sent.map(({ id, sentAt }) => (arrivedAt(id) ?? Number.NaN) - sentAt), bareStart };
}

let journey = new AbortController();
process.on('message', async (message: 'begin' | 'end') => {
  if (message === 'end') return journey.abort();
  journey = new AbortController();
  process.send?.(await travel(journey.signal));
});
process.send?.(`${receiver.url}/`);
