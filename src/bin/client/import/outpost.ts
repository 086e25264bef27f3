import { z } from 'zod';
import { type Format, may, partsIn, pausedIf, secretOf, texts } from './found.js';

/** A `Destination` of Outpost's API (its openapi.yaml). */
const destination = z.object({ id: z.string(), type: z.string() });

/** One of the type `webhook`. */
const webhook = z.object({
  id: z.string(),
  topics: z.union([z.string(), z.array(z.string())]),
  filter: may(z.object({}).loose()),
  disabled_at: may(z.string()),
  /** `custom_headers` is a JSON text. */
  config: z.object({ url: z.string(), custom_headers: may(z.string()) }),
  credentials: may(z.object({ secret: may(z.string()), previous_secret: may(z.string()) })),
  metadata: may(texts),
  delivery_metadata: may(texts),
});

/** Outpost: its destinations of the type `webhook`. */
export const outpost: Format = {
  name: 'Outpost',
  about: [
    'Where Outpost signs as x-outpost-signature, its default, receivers have to verify webhook-signature by a library of Standard Webhooks, with the same secret. In its mode standard they need no change.',
  ],
  read: (documents) =>
    partsIn(documents, (page) => ('models' in page ? page.models : undefined)).map((part) => {
      const { id, type } = destination.parse(part);
      if (type !== 'webhook')
        return { id, why: `It is of the type ${type}: Hookline delivers to URLs alone.` };
      const { config, credentials, topics, filter, ...one } = webhook.parse(part);
      const { secret, notes } = secretOf(credentials?.secret);
      const isFiltered = Object.keys(filter ?? {}).length > 0;
      const sent = Object.keys(one.delivery_metadata ?? {});
      return {
        id,
        body: {
          target_url: config.url,
          event_kinds: [topics].flat(),
          metadata: one.metadata ?? {},
          headers: config.custom_headers ? texts.parse(JSON.parse(config.custom_headers)) : {},
          ...pausedIf(one.disabled_at && 'disabled', isFiltered && 'filter', 'Outpost'),
          ...(secret && { secret }),
        },
        notes: [
          ...notes,
          ...(credentials?.previous_secret ? ['Its previous secret is not taken over.'] : []),
          ...(isFiltered ? ['Its filter is not taken over: give it one here, then resume it.'] : []),
          ...(sent.length > 0 ? [`These are not sent any more: delivery_metadata ${sent.join(', ')}.`] : []),
        ],
      };
    }),
};
