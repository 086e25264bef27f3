export {
  type AddressGuard,
  type AddressGuardOptions,
  BlockedAddressError,
  createAddressGuard,
} from './address-guard.js';
export type { ConnectorOptions } from './connector.js';
export { digestOf } from './digest.js';
export type {
  ClientCertificate,
  Exchange,
  ExchangeErrorCode,
  ExchangeFailure,
  ExchangeTimings,
  HttpAnswer,
  HttpRequest,
  HttpTrace,
  Poster,
} from './exchange.js';
export { dnsServers } from './names/dns-query.js';
export {
  type NameAnswer,
  type ResolvedAddress,
  type ResolveName,
  UnresolvedNameError,
  type UnresolvedReason,
} from './names/name-answer.js';
export type { PlatformOf, ResolvedName } from './names/name-lookups.js';
export { systemNames } from './names/system-names.js';
export { createPoster } from './poster.js';
