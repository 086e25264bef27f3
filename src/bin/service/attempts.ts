import type { AttemptDependencies } from '../../../activities/delivery/attempt-delivery.js';
import { createAttemptDelivery } from '../../../activities/delivery/attempt-delivery.js';
import { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import type { AddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import { createPoster } from '../../../packages/egress/src/index.js';
import type { Settings } from '../../config/schema.js';
import { RELEASE } from '../../domain/basics/release.js';
import { startRelease } from '../../temporal/write/release-backlog.js';
import { connectorOptions } from './egress.js';
import { endpointDirectory } from './endpoint-ports.js';
import { createOrder } from './ledger.js';
import { createInboxExchange } from './listeners/inbox-exchange.js';
import type { Servers } from './servers.js';

/** Sent as `User-Agent` with every attempt. */
export const USER_AGENT = `Hookline/${RELEASE}`;

/** Senders of attempts. */
export type Attempts = Awaited<ReturnType<typeof createAttempts>>;

/**
 * @param parts what attempts take part in; `ownPorts` are those of this service and its servers: at this machine no
 * endpoint may be there
 * @throws where a certificate or key that the settings name cannot be read
 */
export async function createAttempts(
  settings: Settings,
  servers: Servers,
  {
    addressPolicy,
    ownPorts,
    ...parts
  }: Pick<AttemptDependencies, 'conditions' | 'incidents' | 'listenerExchange' | 'observer' | 'tracing'> & {
    addressPolicy: AddressPolicy;
    ownPorts: ReadonlySet<number>;
  },
) {
  const { database, temporal } = servers;
  const releaseStart = {
    client: temporal.client,
    taskQueue: settings.HOOKLINE_TASK_QUEUE,
    releasePerSecond: settings.HOOKLINE_RELEASE_RATE,
    timings: settings.HOOKLINE_TEST_TIME_SCALE,
  };
  const poster = createPoster(
    await connectorOptions(
      settings,
      addressPolicy,
      () => [...ownPorts],
      async (account) => (await database.accounts.current(account))?.platform_id,
    ),
  );
  const attempt = createAttemptDelivery({
    ...parts,
    payloads: database.payloads,
    endpoints: endpointDirectory(database.endpoints),
    release: (endpoint) => startRelease(releaseStart, endpoint, true),
    turns: database.deliveryTurns,
    leases: database.attemptLeases,
    order: createOrder(servers, settings.HOOKLINE_TEST_TIME_SCALE),
    poster,
    inboxExchange: createInboxExchange(database.inboxes),
    userAgent: USER_AGENT,
    publicUrl: settings.HOOKLINE_PUBLIC_URL,
  });
  return { poster, attempt, earlyAttempts: new EarlyAttempts(attempt) };
}
