import type { Endpoint } from '../../api/types.js';

/** What people know an endpoint by: its description, or its host. */
export function nameOfEndpoint({
  description,
  target_url,
}: Pick<Endpoint, 'description' | 'target_url'>): string {
  return description || hostOf(target_url);
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
