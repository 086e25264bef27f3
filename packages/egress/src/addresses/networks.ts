import ipaddr from 'ipaddr.js';

/** An address, parsed. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** A block of addresses, in CIDR notation: an address in it, and how many of its first bits the others share. */
export type Network = [Address, number];

/** Reads a block such as `10.0.0.0/8` or `fd00::/8`. @throws RangeError that says how to write one */
export function parseNetwork(text: string): Network {
  try {
    return ipaddr.parseCIDR(text);
  } catch {
    throw new RangeError(`"${text}" is not a network; write it like 10.0.0.0/8 or fd00::/8`);
  }
}

/** Whether an address is in one of some blocks. ::ffff:10.0.0.1 is reached as 10.0.0.1, so both forms are looked up. */
export function inAny(address: Address, networks: readonly Network[]): boolean {
  const forms = [address, unmapped(address)];
  return networks.some((network) => forms.some((form) => matches(form, network)));
}

/** An IPv4 address that an IPv6 one carries inside (`::ffff:127.0.0.1`); any other as it is. */
export function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Whether an address is in a block. */
export function matches(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/**
 * Reads a block, or an address, which stands for itself: IPv4 in four decimal parts, or IPv6. `undefined` for anything
 * else.
 */
export function readNetwork(text: string): Network | undefined {
  const [address = '', bits, ...others] = text.split('/');
  const isFour = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isFour && !(address.includes(':') && ipaddr.IPv6.isValid(address))) return undefined;
  const most = isFour ? 32 : 128;
  if (bits === undefined) return [ipaddr.parse(address), most];
  if (others.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > most) return undefined;
  return [ipaddr.parse(address), Number(bits)];
}
