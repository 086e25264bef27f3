import { createAttemptDelivery } from '../../../activities/delivery/attempt-delivery.js';
import { EarlyAttempts } from '../../../activities/delivery/early-attempts.js';
import { createPoster } from '../../../activities/http/poster.js';
import type {
  ActivityDependencies,
  AttemptDependencies,
  AttemptObserver,
  HttpPoster,
  ListenerExchange,
} from '../../../activities/ports.js';
import type { Settings } from '../../config/schema.js';
import { RELEASE } from '../../domain/basics/release.js';
import type { AddressPolicy } from '../../domain/endpoint/address-policy.js';
import { connectorOptions } from './egress.js';
import { endpointDirectory } from './endpoint-ports.js';
import type { EndpointKnowledge } from './ledger.js';
import type { Servers } from './servers.js';

/** Sent as `User-Agent` with every attempt. */
export const USER_AGENT = `Hookline/${RELEASE}`;

/** What posts to endpoints. */
export interface Attempts {
  poster: HttpPoster & { close(): Promise<void> };
  attempt: ActivityDependencies['attempt'];
  earlyAttempts: EarlyAttempts;
}

/** What attempts take part in besides the settings. */
export interface AttemptParts {
  knowledge: EndpointKnowledge;
  addressPolicy: AddressPolicy;
  listenerExchange: ListenerExchange;
  observer: AttemptObserver;
  tracing: AttemptDependencies['tracing'];
  /** Ports of this service and its servers: at this machine no endpoint may be there. */
  ownPorts: ReadonlySet<number>;
}

/** @throws where a certificate or key that the settings name cannot be read */
export async function createAttempts(
  settings: Settings,
  { database, sealer }: Servers,
  { knowledge, observer, tracing, addressPolicy, listenerExchange, ownPorts }: AttemptParts,
): Promise<Attempts> {
  const poster = createPoster(await connectorOptions(settings, addressPolicy, () => [...ownPorts]));
  const attempt = createAttemptDelivery({
    sealer,
    endpoints: endpointDirectory(database.endpoints),
    turns: database.deliveryTurns,
    poster,
    listenerExchange,
    ...knowledge,
    observer,
    tracing,
    userAgent: USER_AGENT,
  });
  return { poster, attempt, earlyAttempts: new EarlyAttempts(attempt) };
}
