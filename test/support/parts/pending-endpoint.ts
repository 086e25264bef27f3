import type { EndpointInput } from '../../../src/models/endpoint/endpoint-document.js';

/** Endpoint whose owner has given it another URL, before its verification begins again. */
export function pendingAt(targetUrl: string): EndpointInput {
  return {
    target_url: targetUrl,
    event_kinds: ['purchase'],
    description: '',
    metadata: {},
    headers: {},
    status: 'pending',
    status_when_verified: 'active',
    verification_method: 'challenge',
  };
}
