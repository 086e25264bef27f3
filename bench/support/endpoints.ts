import { OPERATOR } from '../../src/domain/change/change.js';
import type { EndpointInput } from '../../src/models/endpoint/endpoint-document.js';
import type { EndpointRepository } from '../../src/models/endpoint/endpoints.js';

/**
 * Registers active endpoints for purchases, past the API, which counts all of an account's endpoints for each new one.
 */
export async function registerDirectly(
  endpoints: EndpointRepository,
  accountId: string,
  targetUrls: readonly string[],
  more: Partial<EndpointInput> = {},
): Promise<void> {
  for (const target_url of targetUrls) {
    const endpoint = {
      target_url,
      description: '',
      metadata: {},
      headers: {},
      status: 'active',
      status_when_verified: 'active',
      verification_method: 'challenge',
    } as const;
    await endpoints.create(accountId, { ...endpoint, event_kinds: ['purchase'], ...more }, OPERATOR);
  }
}
