import type { Settings } from '../../config/schema.js';
import type { TemporalSettings } from '../../temporal/server/connection.js';

/** How to connect to the servers that the settings name. @throws Error naming the setting that is missing */
export function requireServers(settings: Settings): {
  temporal: TemporalSettings;
  mongodbUri: string;
  /** Where data keys live apart. */
  keysUri: string | undefined;
} {
  const { TEMPORAL_ADDRESS: address, MONGODB_URI: mongodbUri } = settings;
  const missing = [...(address ? [] : ['TEMPORAL_ADDRESS']), ...(mongodbUri ? [] : ['MONGODB_URI'])];
  if (!address || !mongodbUri) {
    throw new Error(`Set ${missing.join(' and ')}, or run "hookline dev", which starts what is missing.`);
  }
  return {
    temporal: {
      address,
      namespace: settings.TEMPORAL_NAMESPACE,
      apiKey: settings.TEMPORAL_API_KEY,
      tls: tlsOf(settings),
      visibilityPerSecond: settings.HOOKLINE_VISIBILITY_PER_SECOND,
    },
    mongodbUri,
    keysUri: settings.HOOKLINE_KEYS_MONGODB_URI,
  };
}

/** @throws Error where certificates are named, and TLS is not to be used */
function tlsOf(settings: Settings): TemporalSettings['tls'] {
  const files = {
    clientCertFile: settings.TEMPORAL_TLS_CLIENT_CERT_PATH,
    clientKeyFile: settings.TEMPORAL_TLS_CLIENT_KEY_PATH,
    serverCaFile: settings.TEMPORAL_TLS_SERVER_CA_CERT_PATH,
    serverName: settings.TEMPORAL_TLS_SERVER_NAME,
  };
  if (Object.values(files).every((value) => value === undefined)) return settings.TEMPORAL_TLS;
  if (settings.TEMPORAL_TLS === false)
    throw new Error(
      'TEMPORAL_TLS is false, and the settings TEMPORAL_TLS_… name certificates: remove one or the other.',
    );
  return files;
}
