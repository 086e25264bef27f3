import { sendSteadily } from '../support/load.js';
import { startReceiver } from '../support/receiver.js';
import type { BenchAccount, BenchServers } from '../support/system.js';
import { until } from '../support/until.js';
import { startSteadily } from './bare-starts.js';

/** What a bystander is told when it begins: its account, and where Temporal is. */
export type Customer = Pick<BenchServers, 'temporalAddress' | 'namespace'> &
  Pick<BenchAccount, 'url' | 'key'>;

/** How long each took, milliseconds. */
export interface Travel {
  /** From an event's post to its arrival. */
  event: number[];
  /** The floor: the start of a workflow that nobody runs, which is less than any event needs, asked of Temporal in the same seconds. */
  bareStart: number[];
}

const EVENTS_PER_SECOND = 50;
/** Few, so that they are no load of their own. */
const BARE_PER_SECOND = 10;
const LIMIT_MS = 600_000;

const customer: Customer = JSON.parse(process.argv[2] ?? '');
const receiver = await startReceiver();
const arrivedAt = (id: string) => receiver.arrivals.get(`${id} /`);

async function travel(seconds: number): Promise<Travel> {
  const [sent, bareStart] = await Promise.all([
    sendSteadily(customer, EVENTS_PER_SECOND, seconds),
    startSteadily(customer, BARE_PER_SECOND, seconds),
  ]);
  await until(() => sent.every(({ id }) => arrivedAt(id) !== undefined), LIMIT_MS);
  return { event: sent.map(({ id, sentAt }) => (arrivedAt(id) ?? Number.NaN) - sentAt), bareStart };
}

process.on('message', async (seconds: number) => process.send?.(await travel(seconds)));
process.send?.(`${receiver.url}/`);
