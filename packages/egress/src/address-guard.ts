import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type AddressPolicy, isLocalhost, isOwnAddress } from './addresses/address-policy.js';
import type { ResolveName } from './names/name-answer.js';
import { NameLookups, type PlatformOf, type ResolvedName } from './names/name-lookups.js';
import { systemNames } from './names/system-names.js';
import { bareHost } from './tunnel.js';

/** A connection was refused because of where it would have gone. It does not say which address that was. */
export class BlockedAddressError extends Error {
  readonly code = 'ERR_EGRESS_BLOCKED_ADDRESS';

  constructor() {
    super('the URL leads to an address that deliveries may not go to');
    this.name = 'BlockedAddressError';
  }
}

/** Decides at connect time where a delivery may go. */
export interface AddressGuard {
  /**
   * The addresses of a host, all of them allowed now: what was kept of an earlier look-up is checked as well. A
   * connection is made to these and to nothing else: there is no second look-up that could lead elsewhere.
   *
   * @param account that it is for; absent: the installation
   * @throws BlockedAddressError if any of them is refused: a name that also leads to an inner address is refused as a
   * whole; of `localhost` those remain that are allowed
   * @throws UnresolvedNameError
   */
  resolve(hostname: string, port: number, account?: string): Promise<ResolvedName>;
  /** Checks one address, such as the one that a connection was in fact made to. @throws BlockedAddressError */
  check(address: string | undefined, port: number): void;
}

export interface AddressGuardOptions {
  policy: AddressPolicy;
  /** Default: as the operating system does. */
  resolveName?: ResolveName;
  /**
   * Ports that this service and its servers listen on; at this machine's own addresses they are refused in any case.
   */
  ownPorts?: () => readonly number[];
  /** By which names that fail are looked up in turns. Default: every account is one without a platform. */
  platformOf?: PlatformOf | undefined;
}

export function createAddressGuard({
  policy,
  resolveName = systemNames(),
  ownPorts = () => [],
  platformOf,
}: AddressGuardOptions): AddressGuard {
  const allows = (address: string, port: number): boolean =>
    policy.allowsPort(port) &&
    policy.allows(address) &&
    !(ownPorts().includes(port) && isOwnAddress(address, addressesOfThisMachine()));

  const names = new NameLookups(resolveName, platformOf);

  return {
    async resolve(hostname, port, account) {
      const literal = bareHost(hostname);
      const family = isIP(literal);
      const resolved = family
        ? { addresses: [{ address: literal, family }] }
        : await names.resolve(hostname, account);
      const { addresses } = resolved;
      const good = addresses.filter(({ address }) => allows(address, port));
      // `localhost` is this machine whatever it leads to: one of its two addresses may be allowed without the other.
      const isEnough = isLocalhost(hostname) ? good.length > 0 : good.length === addresses.length;
      if (good.length === 0 || !isEnough) throw new BlockedAddressError();
      return { ...resolved, addresses: good };
    },
    check(address, port) {
      if (address === undefined || !allows(address, port)) throw new BlockedAddressError();
    },
  };
}

function addressesOfThisMachine(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) =>
    (addresses ?? []).map(({ address }) => address),
  );
}
