import { lookup as resolveBySystem } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type AddressPolicy, isOwnAddress } from '../../src/domain/endpoint/address-policy.js';

/** A connection was refused because of where it would have gone. It does not say which address that was. */
export class BlockedAddressError extends Error {
  readonly code = 'ERR_HOOKLINE_BLOCKED_ADDRESS';

  constructor() {
    super('the URL leads to an address that deliveries may not go to');
    this.name = 'BlockedAddressError';
  }
}

/** An address that a name leads to. */
export interface ResolvedAddress {
  address: string;
  family: number;
}

/** Asks DNS. @throws an error with `code`, as Node.js does */
export type ResolveName = (hostname: string) => Promise<ResolvedAddress[]>;

/** Decides at connect time where a delivery may go. */
export interface AddressGuard {
  /**
   * The addresses of a host, all of them allowed. A connection is made to these and to nothing else: there is no second look-up that
   * could lead elsewhere.
   *
   * @throws BlockedAddressError if any of them is refused: a name that also leads to an inner address is refused as a whole
   */
  resolve(hostname: string, port: number): Promise<ResolvedAddress[]>;
  /** For `net.connect`: {@link AddressGuard.resolve} in the form of `dns.lookup`. */
  lookupFor(port: number): LookupFunction;
  /** Checks one address, such as the one that a connection was in fact made to. @throws BlockedAddressError */
  check(address: string | undefined, port: number): void;
}

export interface AddressGuardOptions {
  policy: AddressPolicy;
  /** Default: the operating system's resolver. */
  resolveName?: ResolveName;
  /** Ports that this service and its servers listen on; at this machine's own addresses they are refused in any case. */
  ownPorts?: () => readonly number[];
}

export function createAddressGuard({
  policy,
  resolveName = askSystem,
  ownPorts = () => [],
}: AddressGuardOptions): AddressGuard {
  const allows = (address: string, port: number): boolean =>
    policy.allowsPort(port) &&
    policy.allows(address) &&
    !(ownPorts().includes(port) && isOwnAddress(address, addressesOfThisMachine()));

  const resolve = async (hostname: string, port: number): Promise<ResolvedAddress[]> => {
    const literal = hostname.replace(/^\[|\]$/g, '');
    const family = isIP(literal);
    const addresses = family ? [{ address: literal, family }] : await resolveName(hostname);
    if (addresses.length === 0 || !addresses.every(({ address }) => allows(address, port)))
      throw new BlockedAddressError();
    return addresses;
  };

  return {
    resolve,
    lookupFor: (port) => (hostname, options, callback) => {
      resolve(hostname, port).then(
        (addresses) => {
          const [first] = addresses;
          if (options.all) callback(null, addresses);
          else callback(null, first?.address ?? '', first?.family ?? 0);
        },
        (error: Error) => callback(error, '', 0),
      );
    },
    check(address, port) {
      if (address === undefined || !allows(address, port)) throw new BlockedAddressError();
    },
  };
}

/** Resolves with the DNS servers named, instead of the operating system's: `10.0.0.2` or `10.0.0.2:5353`. */
export function dnsServers(servers: readonly string[]): ResolveName {
  const resolver = new Resolver();
  resolver.setServers([...servers]);
  return async (hostname) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(v4.status === 'fulfilled' ? v4.value.map((address) => ({ address, family: 4 })) : []),
      ...(v6.status === 'fulfilled' ? v6.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0) throw v4.status === 'rejected' ? v4.reason : new Error('no address');
    return found;
  };
}

function askSystem(hostname: string): Promise<ResolvedAddress[]> {
  return new Promise((resolve, reject) => {
    resolveBySystem(hostname, { all: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses),
    );
  });
}

function addressesOfThisMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
}
