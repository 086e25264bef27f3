import {
  type DeliveryOptions,
  type DeliverySecrets,
  unmaskOptions,
} from '../../src/domain/endpoint/delivery-options.js';

/** The headers by which a request authenticates at an endpoint. @param secrets what the options mask */
export function authorizationOf(options: DeliveryOptions, secrets: DeliverySecrets): Record<string, string> {
  const { authentication } = unmaskOptions(options, secrets);
  return authentication ? { authorization: `Bearer ${authentication.token}` } : {};
}
