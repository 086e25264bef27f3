import { existsSync } from 'node:fs';
import { LOOPBACK } from '../../../packages/embedded-servers/src/index.js';
import type { Settings } from '../../config/schema.js';
import { loadOrCreateKeys } from './secrets.js';

/**
 * The settings with the servers and keys of a running `hookline dev`, where no servers are named and there is its data
 * folder: so that a command for operators can be used beside it.
 */
export async function withServersOfDev(settings: Settings): Promise<Settings> {
  const { TEMPORAL_ADDRESS, MONGODB_URI, HOOKLINE_DATA_DIR: folder } = settings;
  if (TEMPORAL_ADDRESS !== undefined || MONGODB_URI !== undefined || !existsSync(folder)) return settings;
  return {
    ...settings,
    TEMPORAL_ADDRESS: `${LOOPBACK}:${settings.HOOKLINE_TEMPORAL_PORT}`,
    MONGODB_URI: `mongodb://${LOOPBACK}:${settings.HOOKLINE_MONGODB_PORT}/hookline`,
    HOOKLINE_SECRET_KEYS: settings.HOOKLINE_SECRET_KEYS ?? (await loadOrCreateKeys(folder, 'secret.keys')),
    HOOKLINE_PAYLOAD_KEYS: settings.HOOKLINE_PAYLOAD_KEYS ?? (await loadOrCreateKeys(folder, 'payload.keys')),
  };
}
