import { readFile } from 'node:fs/promises';
import { type AddressPolicy, createAddressPolicy } from '../../../packages/egress/src/addresses/index.js';
import type { ConnectorOptions, PlatformOf } from '../../../packages/egress/src/index.js';
import { createAddressGuard, dnsServers } from '../../../packages/egress/src/index.js';
import type { Settings } from '../../config/schema.js';

/** Where deliveries may go, as the settings say. @throws RangeError naming a network or port that is none */
export function addressPolicyOf(settings: Settings): AddressPolicy {
  return createAddressPolicy({
    allowedNetworks: settings.HOOKLINE_ALLOWED_NETWORKS,
    deniedNetworks: settings.HOOKLINE_DENIED_NETWORKS,
    allowedPorts: settings.HOOKLINE_ALLOWED_PORTS,
    networksSetting: 'HOOKLINE_ALLOWED_NETWORKS',
  });
}

/** How connections to endpoints are made, as the settings say. @throws where a file cannot be read */
export async function connectorOptions(
  settings: Settings,
  policy: AddressPolicy,
  ownPorts: () => readonly number[],
  platformOf?: PlatformOf,
): Promise<ConnectorOptions> {
  const { HOOKLINE_EXTRA_CA_FILE: caFile, HOOKLINE_DNS_SERVERS: servers } = settings;
  const { HOOKLINE_CLIENT_CERT_FILE: certFile, HOOKLINE_CLIENT_KEY_FILE: keyFile } = settings;
  if (Boolean(certFile) !== Boolean(keyFile))
    throw new Error('Set both HOOKLINE_CLIENT_CERT_FILE and HOOKLINE_CLIENT_KEY_FILE, or neither.');
  return {
    guard: createAddressGuard({
      policy,
      ownPorts,
      platformOf,
      ...(servers.length > 0 && { resolveName: dnsServers(servers) }),
    }),
    extraCa: caFile ? [await readFile(caFile, 'utf8')] : [],
    ...(certFile &&
      keyFile && {
        clientCertificate: { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') },
      }),
    egressProxy: settings.HOOKLINE_EGRESS_PROXY,
    maxAgeMs: settings.HOOKLINE_CONNECTION_AGE,
  };
}

/**
 * The ports of this service and its servers that the settings name: at this machine's addresses, no endpoint may use
 * them.
 */
export function portsOf(settings: Settings): number[] {
  const { TEMPORAL_ADDRESS, TEMPORAL_UI_URL, MONGODB_URI, HOOKLINE_TEMPORAL_METRICS_ADDRESS } = settings;
  // The port is only taken where the URL names one: 80 and 443 may be a proxy's, in front of endpoints as well.
  const ui = TEMPORAL_UI_URL && new URL(TEMPORAL_UI_URL).port;
  const addresses = [TEMPORAL_ADDRESS, HOOKLINE_TEMPORAL_METRICS_ADDRESS];
  const mongo = (MONGODB_URI ?? '').matchAll(/:(\d+)(?=[,/?]|$)/g);
  return [
    settings.HOOKLINE_PORT,
    Number(ui),
    ...addresses.map((address) => Number(address?.split(':').at(-1))),
    ...[...mongo].map(([, port]) => Number(port)),
  ].filter((port) => port > 0);
}
