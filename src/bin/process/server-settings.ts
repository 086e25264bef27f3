import type { Settings } from '../../config/schema.js';
import type { TemporalSettings } from '../../temporal/server/connection.js';

/** How to connect to the servers that a process uses. */
export interface ServerSettings {
  temporal: TemporalSettings;
  mongodbUri: string;
  /** Where data keys live apart. */
  keysUri?: string | undefined;
}

/** The servers that the settings name. @throws Error naming the setting that is missing */
export function requireServers(settings: Settings): ServerSettings {
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
      tls: settings.TEMPORAL_TLS,
      payloadKeys: settings.HOOKLINE_PAYLOAD_KEYS,
    },
    mongodbUri,
    keysUri: settings.HOOKLINE_KEYS_MONGODB_URI,
  };
}
