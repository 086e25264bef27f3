import { Client } from '@temporalio/client';
import {
  DefaultLogger,
  IllegalStateError,
  type LogLevel,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  type RuntimeOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { withTimeout } from '../../domain/basics/with-timeout.js';
import { atVisibilityPace, withCallDeadlines } from './calls.js';
import { visibilityRoom } from './temporal-cloud.js';
import { type TemporalTls, tlsOption } from './tls.js';
import { VisibilityPace } from './visibility-pace.js';

/** Where Temporal is. */
export interface TemporalSettings {
  /** `host:port` */
  address: string;
  namespace: string;
  /** For Temporal Cloud, or a cluster that checks keys. */
  apiKey?: string | undefined;
  /** Whether TLS is used, or with which files; absent: only with an API key. */
  tls?: boolean | TemporalTls | undefined;
  /**
   * How many calls that list or count this connection makes in a second; absent: as many as {@link visibilityRoom}
   * says.
   */
  visibilityPerSecond?: number | undefined;
}

/**
 * The connection to Temporal. Client and worker share it, because the server hands a started workflow back only on the
 * same connection.
 */
export interface TemporalConnection {
  native: NativeConnection;
  client: Client;
  /** Through which every call of the client goes that lists or counts. */
  visibility: VisibilityPace;
  close(): Promise<void>;
}

/**
 * Sets up the SDK for this process; call it before anything else of the SDK. A process has one runtime: the first one
 * stays.
 *
 * @param metricsAddress where the SDK's own metrics are served for Prometheus, `host:port`; not served if it is absent
 */
export function installRuntime(logger: Logger, metricsAddress: string | undefined): void {
  const sdkLog = logger.child({ component: 'temporal' });
  const options: RuntimeOptions = {
    // The process stops in its own order: first the API, then the worker.
    shutdownSignals: [],
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) => {
      const severity = level.toLowerCase() as Lowercase<LogLevel>;
      sdkLog[message.startsWith(NO_WORKFLOWS) ? 'debug' : severity](meta ?? {}, message);
    }),
    telemetryOptions: {
      logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) },
      ...(metricsAddress && { metrics: { prometheus: { bindAddress: metricsAddress } } }),
    },
  };
  try {
    Runtime.install(options);
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}

/**
 * The SDK's warning about a worker that runs activities only, which the worker of the isolated lane does on purpose.
 */
const NO_WORKFLOWS = 'No workflows registered';

/** The SDK connects with a call, and tells in its text alone how that was answered. */
const IS_STRANGER = /caller does not have permission|valid authentication credentials/;

/**
 * Connects to Temporal. Every call of the client has a deadline.
 *
 * @throws Error that names the address if the server cannot be reached
 */
export async function connectTemporal(settings: TemporalSettings): Promise<TemporalConnection> {
  const tls = typeof settings.tls === 'object' ? await tlsOption(settings.tls) : settings.tls;
  const native = await withTimeout(
    10_000,
    NativeConnection.connect({
      address: settings.address,
      ...(tls !== undefined && { tls }),
      ...(settings.apiKey !== undefined && { apiKey: settings.apiKey }),
    }),
  ).catch((error: Error) => {
    const what = IS_STRANGER.test(error.message)
      ? `Temporal at ${settings.address} does not accept this caller. Check TEMPORAL_API_KEY or the certificate (TEMPORAL_TLS_CLIENT_CERT_PATH), and TEMPORAL_NAMESPACE.`
      : `Temporal cannot be reached at ${settings.address}. Check TEMPORAL_ADDRESS, and whether the server runs.`;
    throw new Error(`${what} (${error.message})`, { cause: error });
  });
  const visibility = new VisibilityPace(settings.visibilityPerSecond ?? visibilityRoom(settings.address));
  const client = new Client({
    connection: atVisibilityPace(withCallDeadlines(native), visibility),
    namespace: settings.namespace,
  });
  return {
    native,
    client,
    visibility,
    async close() {
      await native.close();
      // Node.js 20 would go on handing the context of its calls to every promise of the process.
      native.callContextStorage.disable();
    },
  };
}
