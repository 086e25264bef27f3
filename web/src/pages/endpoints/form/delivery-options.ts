import type { Endpoint } from '../../../api/types.js';

/** Settings that say how deliveries are sent (docs/endpoints.md). */
export const OPTION_NAMES = [
  'attempt_timeout',
  'max_concurrency',
  'authentication',
  'client_certificate',
  'legacy_signature',
  'payload_format',
  'include_values',
] as const;

export type DeliveryOptions = Pick<Endpoint, (typeof OPTION_NAMES)[number]>;

/** The delivery options that an endpoint has. */
export function optionsOf(endpoint: Partial<Endpoint> = {}): DeliveryOptions {
  return Object.fromEntries(
    OPTION_NAMES.flatMap((name) => (endpoint[name] === undefined ? [] : [[name, endpoint[name]]])),
  );
}

/** Delivery options in a text, or what is wrong with it. The service checks the values. */
export function parseOptions(text: string): { options: DeliveryOptions; mistake?: string } {
  if (text.trim() === '') return { options: {} };
  try {
    const options: unknown = JSON.parse(text);
    if (typeof options !== 'object' || options === null || Array.isArray(options))
      return { options: {}, mistake: 'This must be a JSON object.' };
    const unknown = Object.keys(options).find((name) => !OPTION_NAMES.some((known) => known === name));
    return unknown === undefined
      ? { options }
      : { options: {}, mistake: `There is no setting “${unknown}” here.` };
  } catch (error) {
    return { options: {}, mistake: `This is not JSON: ${(error as Error).message}` };
  }
}
