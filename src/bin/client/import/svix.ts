import { z } from 'zod';
import { type Format, may, partsIn, pausedIf, secretOf, texts } from './found.js';

/**
 * `EndpointOut` of Svix's API, and beside it what other requests say about the endpoint: `EndpointSecretOut` as
 * `secret` and `EndpointHeadersOut` as `headers` (Svix's openapi.json). Older servers of Svix call two fields
 * `filterTypes` and `rateLimit`.
 */
const endpoint = z.object({
  id: z.string(),
  url: z.string(),
  description: may(z.string()),
  uid: may(z.string()),
  disabled: may(z.boolean()),
  eventTypes: may(z.array(z.string())),
  filterTypes: may(z.array(z.string())),
  channels: may(z.array(z.string())),
  throttleRate: may(z.number()),
  rateLimit: may(z.number()),
  metadata: may(texts),
  secret: may(z.object({ key: z.string() })),
  headers: may(z.object({ headers: texts, sensitive: z.array(z.string()).default([]) })),
});

/** Svix: its signature is that of Standard Webhooks under other names, so that nothing changes for a receiver. */
export const svix: Format = {
  name: 'Svix',
  about: [
    'Signatures are sent as svix-id, svix-timestamp and svix-signature, too: receivers need no change.',
  ],
  read: (documents) =>
    partsIn(documents, (page) => ('data' in page ? page.data : undefined)).map((part) => {
      const { id, url, uid, channels, ...one } = endpoint.parse(part);
      const rate = one.throttleRate ?? one.rateLimit;
      const key = one.secret?.key;
      const { secret, notes } = secretOf(key && (key.startsWith('whsec_') ? key : `whsec_${key}`));
      const isChosen = (channels?.length ?? 0) > 0;
      const hidden = one.headers?.sensitive ?? [];
      return {
        id,
        body: {
          target_url: url,
          event_kinds: one.eventTypes ?? one.filterTypes ?? ['*'],
          description: one.description ?? '',
          metadata: { ...one.metadata, ...(uid && { svix_uid: uid }) },
          headers: one.headers?.headers ?? {},
          legacy_header_prefix: 'svix-',
          ...(rate && { rate_limit: rate }),
          ...pausedIf(one.disabled && 'disabled', isChosen && 'choice of channels', 'Svix'),
          ...(secret && { secret }),
        },
        notes: [
          ...notes,
          ...(hidden.length > 0
            ? [`Svix hides the values of these headers; set them again: ${hidden.join(', ')}.`]
            : []),
          ...(isChosen
            ? [`It got the channels ${channels?.join(', ')} only: give it a filter, then resume it.`]
            : []),
        ],
      };
    }),
};
