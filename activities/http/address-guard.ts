import { lookup as resolve } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A connection was refused because of where it would have gone. It does not say which address that was. */
export class BlockedAddressError extends Error {
  readonly code = 'ERR_HOOKLINE_BLOCKED_ADDRESS';

  constructor() {
    super('the URL leads to an address that is not public');
    this.name = 'BlockedAddressError';
  }
}

/** Decides where deliveries may go. */
export interface AddressGuard {
  /** Whether an address, as text, may be connected to. */
  allows(address: string): boolean;
  /**
   * Resolves a name as `dns.lookup` does, and fails where any of its addresses is refused. As the connection is made to what this
   * returns, no second look-up can lead elsewhere.
   */
  lookup: LookupFunction;
}

/**
 * Allows public unicast addresses: nothing that is loopback, private, link-local, shared, multicast, reserved, or an IPv6 form that
 * carries an IPv4 address (IANA special-purpose registries, RFC 6890).
 *
 * @param allowedNetworks CIDR blocks that are allowed besides, such as `127.0.0.0/8`
 * @throws RangeError where a block is no CIDR notation
 */
export function createAddressGuard(allowedNetworks: readonly string[]): AddressGuard {
  const networks = allowedNetworks.map(parseNetwork);

  const allows = (address: string): boolean => {
    if (!ipaddr.isValid(address)) return false;
    const ip = ipaddr.process(address);
    if (ip.range() === 'unicast') return true;
    return networks.some(([network, bits]) => ip.kind() === network.kind() && ip.match(network, bits));
  };

  const lookup: LookupFunction = (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => allows(address)))
        return callback(new BlockedAddressError(), '', 0);
      if (options.all) return callback(null, addresses);
      callback(null, first.address, first.family);
    });
  };

  return { allows, lookup };
}

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    return ipaddr.parseCIDR(text);
  } catch {
    throw new RangeError(`"${text}" is no network; write it like 10.0.0.0/8 or fd00::/8`);
  }
}
