import type { Endpoint } from '../../api/types.js';

/** Name of an endpoint for people: its description, or its host. */
export function nameOfEndpoint({
  description,
  target_url,
}: Pick<Endpoint, 'description' | 'target_url'>): string {
  return description || hostOf(target_url);
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}

/** The kinds that an endpoint receives, as a line. */
export function kindsOf({ event_kinds: kinds }: Endpoint): string {
  if (kinds.includes('*')) return 'All';
  return kinds.length > 3 ? `${kinds.slice(0, 3).join(', ')} and ${kinds.length - 3} more` : kinds.join(', ');
}
