export {
  type AddressPolicy,
  type AddressPolicyOptions,
  createAddressPolicy,
  isLocalhost,
  isOwnAddress,
} from './address-policy.js';
export { type Address, inAny, type Network, parseNetwork, readNetwork } from './networks.js';
