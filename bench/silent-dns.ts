import { startHostileDns } from '../test/support/outside/hostile-dns.js';
import { sendSteadily } from './support/load.js';
import { startReceiver } from './support/receiver.js';
import { type BenchAccount, type BenchServers, startBenchSystem } from './support/system.js';
import { until } from './support/until.js';

/** Cost of silent name servers beside an endpoint that is healthy. */
export interface SilentDns {
  /**
   * From an event's post to its arrival at the healthy endpoint, milliseconds; each over a connection and a look-up of
   * its own.
   */
  alone: number[];
  /** Beside endpoints that refuse connections: what as many failing deliveries cost in any case. */
  besideRefusing: number[];
  beside: number[];
  /** Deliveries whose endpoints could not be looked up, and how often DNS was asked for an address of one of them. */
  dead: { deliveries: number; questions: number };
}

const EVENTS_PER_SECOND = 20;
const SECONDS = 20;
/** The other accounts' events: each goes to all endpoints of its account. */
const DEAD_PER_SECOND = 0.2;
/** Nobody listens there. */
const REFUSED_PORT = 1_025;
const LIMIT_MS = 120_000;

/**
 * Sends events to one endpoint, alone and beside those for many of other accounts: whose connections are refused, and
 * whose name servers never answer.
 */
export async function measureSilentDns(servers: BenchServers, endpoints: number): Promise<SilentDns> {
  const dns = await startHostileDns((name) => (name === 'healthy.test' ? ['127.0.0.1'] : 'silence'), {
    v6: (name) => (name === 'healthy.test' ? [] : 'silence'),
  });
  const receiver = await startReceiver();
  const system = await startBenchSystem(servers, {
    HOOKLINE_DNS_SERVERS: dns.address,
    // No connection is used twice.
    HOOKLINE_CONNECTION_AGE: '1ms',
  });
  try {
    await system.register(`http://healthy.test:${new URL(receiver.url).port}/`);
    const travel = async (account: BenchAccount): Promise<number[]> => {
      const sent = await sendSteadily(account, EVENTS_PER_SECOND, SECONDS);
      const arrivedAt = (id: string) => receiver.arrivals.get(`${id} /`);
      await until(() => sent.every(({ id }) => arrivedAt(id) !== undefined), LIMIT_MS);
      return sent.map(({ id, sentAt }) => (arrivedAt(id) ?? Number.NaN) - sentAt);
    };
    const beside = async (urlOf: (index: number) => string) => {
      const other = await system.newAccount();
      await other.registerMany(Array.from({ length: endpoints }, (_, index) => urlOf(index)));
      const [times, events] = await Promise.all([
        travel(system),
        sendSteadily(other, DEAD_PER_SECOND, SECONDS),
      ]);
      return { times, deliveries: events.length * endpoints };
    };
    await travel(system);
    const alone = await travel(system);
    const refusing = await beside((index) => `http://healthy.test:${REFUSED_PORT}/${index}`);
    const dead = await beside((index) => `http://dead-${index}.test:8080/`);
    return {
      alone,
      besideRefusing: refusing.times,
      beside: dead.times,
      dead: {
        deliveries: dead.deliveries,
        questions: dns.questions.filter((name) => name.startsWith('dead')).length,
      },
    };
  } finally {
    await system.stop();
    await receiver.close();
    await dns.close();
  }
}
