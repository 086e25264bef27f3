import type { EndpointRepository } from '../../src/models/endpoint/endpoints.js';

/** Registers active endpoints for purchases, past the API, which counts all of an account's endpoints for each new one. */
export async function registerDirectly(
  endpoints: EndpointRepository,
  accountId: string,
  targetUrls: readonly string[],
  headers: Record<string, string> = {},
): Promise<void> {
  for (const target_url of targetUrls) {
    await endpoints.create(accountId, {
      target_url,
      event_kinds: ['purchase'],
      description: '',
      metadata: {},
      headers,
      status: 'active',
      status_when_verified: 'active',
      verification_method: 'challenge',
    });
  }
}
