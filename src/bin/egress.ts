import { readFile } from 'node:fs/promises';
import { createAddressGuard, dnsServers } from '../../activities/http/address-guard.js';
import type { ConnectorOptions } from '../../activities/http/connector.js';
import type { Settings } from '../config/schema.js';
import { type AddressPolicy, createAddressPolicy } from '../domain/endpoint/address-policy.js';

/** Where deliveries may go, as the settings say. @throws RangeError naming a network or port that is none */
export function addressPolicyOf(settings: Settings): AddressPolicy {
  return createAddressPolicy({
    allowedNetworks: settings.HOOKLINE_ALLOWED_NETWORKS,
    deniedNetworks: settings.HOOKLINE_DENIED_NETWORKS,
    allowedPorts: settings.HOOKLINE_ALLOWED_PORTS,
  });
}

/** How connections to endpoints are made, as the settings say. @throws where a file cannot be read */
export async function connectorOptions(
  settings: Settings,
  policy: AddressPolicy,
  ownPorts: () => readonly number[],
): Promise<ConnectorOptions> {
  const { HOOKLINE_EXTRA_CA_FILE: caFile, HOOKLINE_DNS_SERVERS: servers } = settings;
  const { HOOKLINE_CLIENT_CERT_FILE: certFile, HOOKLINE_CLIENT_KEY_FILE: keyFile } = settings;
  if (Boolean(certFile) !== Boolean(keyFile))
    throw new Error('Set both HOOKLINE_CLIENT_CERT_FILE and HOOKLINE_CLIENT_KEY_FILE, or neither.');
  return {
    guard: createAddressGuard({
      policy,
      ownPorts,
      ...(servers.length > 0 && { resolveName: dnsServers(servers) }),
    }),
    extraCa: caFile ? [await readFile(caFile, 'utf8')] : [],
    ...(certFile &&
      keyFile && {
        clientCertificate: { cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') },
      }),
    egressProxy: settings.HOOKLINE_EGRESS_PROXY,
  };
}

/** Ports of this service and its servers, as far as the settings name them: at this machine they are no endpoint's. */
export function portsOf(settings: Settings): number[] {
  const temporal = Number(settings.TEMPORAL_ADDRESS?.split(':').at(-1));
  const mongo = [...(settings.MONGODB_URI ?? '').matchAll(/:(\d+)(?=[,/?]|$)/g)].map((match) =>
    Number(match[1]),
  );
  return [settings.HOOKLINE_PORT, temporal, ...mongo].filter((port) => port > 0);
}
