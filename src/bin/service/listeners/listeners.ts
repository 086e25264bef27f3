import type { RequestListener } from 'node:http';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import type { Ticket } from '../../../api/listeners/tickets.js';
import type { Settings } from '../../../config/schema.js';
import type { DeliveryStarter } from '../../../temporal/write/delivery-starter.js';
import { requireSecretBox } from '../../process/secrets.js';
import type { Api } from '../api.js';
import { type HttpServer, urlAt } from '../http-server.js';
import type { Servers } from '../servers.js';
import { sweepListeners } from './listener-sweep.js';

/** Parts for listeners in a process that serves the API. */
export type Listeners = Awaited<ReturnType<typeof createListeners>>;

/** Makes the streams of listeners. Their modules are loaded here, so that a worker does without them. */
export async function createListeners(settings: Settings, { database }: Servers, logger: Logger) {
  const [{ ListenerStreams }, { createUpgrade }, { withRelay }, { ticketHolder }] = await Promise.all([
    import('../../../api/listeners/streams.js'),
    import('../../../api/listeners/upgrade.js'),
    import('../../../api/listeners/relay.js'),
    import('../../../api/listeners/ticket-holder.js'),
  ]);
  const box = requireSecretBox(settings);
  const { endpoints, listeners } = database;
  let starter: DeliveryStarter | undefined;
  const release = async (endpoint: { account_id: string; endpoint_id: string }) => starter?.release(endpoint);
  const allows = async (ticket: Ticket) =>
    (await ticketHolder({ database, settings, logger }, ticket)) !== undefined;
  const timings = settings.HOOKLINE_TEST_TIME_SCALE;
  const streams = new ListenerStreams({ listeners, endpoints, allows, release, logger, timings });
  return {
    streams,
    /** Begins to delete those that are left alone. @returns stops that */
    start(given: DeliveryStarter): () => Promise<void> {
      starter = given;
      return sweepListeners(database, given, logger);
    },
    /** Serves their streams at a server, whose other requests go to the API. */
    serve(http: HttpServer, { listener, limiters, addressOf }: Omit<Api, 'stop'>): RequestListener {
      streams.serveAt(settings.HOOKLINE_INTERNAL_URL ?? internalUrl(settings, http.port));
      http.upgrade(createUpgrade({ streams, database, limiters, addressOf, box, settings, logger }));
      return withRelay(streams, box, listener);
    },
  };
}

/** A process that listens on every address is found by the name of its machine, as containers find each other. */
function internalUrl({ HOOKLINE_HOST }: Settings, port: number): string {
  return urlAt(['0.0.0.0', '::'].includes(HOOKLINE_HOST) ? hostname() : HOOKLINE_HOST, port);
}
