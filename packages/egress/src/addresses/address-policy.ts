import ipaddr from 'ipaddr.js';
import { type Address, inAny, matches, type Network, parseNetwork, unmapped } from './networks.js';

/** Settings of operators that decide where deliveries may go. */
export interface AddressPolicyOptions {
  /** CIDR blocks that are allowed although they are not public, such as `127.0.0.0/8`. */
  allowedNetworks: readonly string[];
  /** CIDR blocks that are refused in any case: they win over public and over allowed. */
  deniedNetworks: readonly string[];
  /** Ports that may be connected to: `443`, or a range such as `1024-65535`. */
  allowedPorts: readonly string[];
  /** Name of the setting by which an operator allows networks, for people whose URL is refused. */
  networksSetting?: string;
}

/** Decides where deliveries may go. */
export type AddressPolicy = ReturnType<typeof createAddressPolicy>;

/**
 * Clouds give instances their credentials at these addresses. No list of allowed networks lets them in. The one of
 * Azure is not even in a special range.
 */
const METADATA = [
  '169.254.169.254/32',
  '169.254.170.2/32',
  '168.63.129.16/32',
  '100.100.100.200/32',
  'fd00:ec2::254/128',
];

/** The only IPv6 block that is assigned for global unicast (RFC 4291, section 2.4; IANA). */
const GLOBAL_UNICAST_V6: Network = ipaddr.parseCIDR('2000::/3');

/** Names that by their form are never public (RFC 6761, RFC 6762, RFC 8375, ICANN's `.internal`). */
const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa', 'lan', 'intranet', 'corp', 'home'];

/**
 * Allows public unicast addresses: nothing that is loopback, private, link-local, shared, multicast, reserved, for
 * documentation or benchmarks (IANA special-purpose registries, RFC 6890), and no IPv6 form that carries an IPv4
 * address inside.
 *
 * @throws RangeError if a block is not in CIDR notation, or a port is not a number or range
 */
export function createAddressPolicy(options: AddressPolicyOptions) {
  const allowed = options.allowedNetworks.map(parseNetwork);
  const denied = [...METADATA, ...options.deniedNetworks].map(parseNetwork);
  const ports = options.allowedPorts.map(parsePorts);

  /** Whether an address, as text, may be connected to. */
  const allows = (text: string): boolean => {
    if (!isStrictAddress(text)) return false;
    const address = ipaddr.parse(text);
    if (inAny(address, denied)) return false;
    return isPublic(address) || inAny(address, allowed);
  };
  const { networksSetting } = options;
  const orAllow = (which: string): string =>
    networksSetting === undefined ? '' : ` (an operator can allow ${which} with ${networksSetting})`;
  const allowsPort = (port: number): boolean => ports.some(([first, last]) => port >= first && port <= last);

  return {
    allows,
    allowsPort,
    /**
     * Objection to a URL's host and port, as far as it is known without DNS; `undefined` if there is none. The rest is
     * found out when a connection is made, each time.
     */
    objection(url: URL): string | undefined {
      const port = Number(url.port || (url.protocol === 'http:' ? 80 : 443));
      if (!allowsPort(port))
        return `must use one of the ports ${options.allowedPorts.join(', ')}, not ${port}`;
      const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
      if (ipaddr.isValid(host))
        return allows(host) ? undefined : `must not be at an address that is not public${orAllow('more')}`;
      if (isLocalhost(host))
        return LOOPBACK.some(allows) ? undefined : `must not be this machine${orAllow('it')}`;
      // Names of a closed network are for its operator to allow, with the network.
      if (allowed.length === 0 && isPrivateName(host))
        return `must have a public host name${orAllow('others')}`;
      return undefined;
    },
  };
}

/** Where `localhost` leads. */
const LOOPBACK = ['127.0.0.1', '::1'];

/** Whether a name is one of this machine alone, and never asked of DNS (RFC 6761, section 6.3). */
export function isLocalhost(name: string): boolean {
  const host = name.toLowerCase().replace(/\.$/, '');
  return host === 'localhost' || host.endsWith('.localhost');
}

/**
 * Whether an address leads to the machine that connects to it: a loopback address, the unspecified one, or one of its
 * own. An IPv4 address is recognised inside IPv6 (`::ffff:127.0.0.1`), too.
 *
 * @param ownAddresses of the machine's network interfaces
 */
export function isOwnAddress(text: string, ownAddresses: readonly string[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = unmapped(ipaddr.parse(text));
  if (['loopback', 'unspecified'].includes(address.range())) return true;
  return ownAddresses.some(
    (own) => ipaddr.isValid(own) && unmapped(ipaddr.parse(own)).toString() === address.toString(),
  );
}

/**
 * The forms that Node.js connects to: four decimal parts, or IPv6; never `0x7f.1` or `010.0.0.1`, which others read
 * differently.
 */
function isStrictAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text)
    ? !/(^|\.)0\d/.test(text)
    : text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text);
}

function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return true;
  const { parts } = address as ipaddr.IPv6;
  // ISATAP: an IPv4 address behind 0:5efe or 200:5efe (RFC 5214, section 6.1).
  const isatap = parts[5] === 0x5efe && ((parts[4] ?? 0) & ~0x0200) === 0;
  return matches(address, GLOBAL_UNICAST_V6) && !isatap;
}

function isPrivateName(host: string): boolean {
  return (
    !host.includes('.') || PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))
  );
}

function parsePorts(text: string): [number, number] {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (!match || first < 1 || last > 65_535 || first > last)
    throw new RangeError(`"${text}" is not a port; write it like 443, or a range like 1024-65535`);
  return [first, last];
}
