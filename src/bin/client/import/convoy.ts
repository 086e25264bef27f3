import { z } from 'zod';
import {
  type ForeignEndpoint,
  type Format,
  type LeftOut,
  may,
  partsIn,
  pausedIf,
  secretOf,
} from './found.js';

/** `models.EndpointResponse` of Convoy's API (its openapi3.json). */
const endpoint = z.object({
  uid: z.string(),
  url: z.string(),
  name: may(z.string()),
  description: may(z.string()),
  owner_id: may(z.string()),
  status: may(z.string()),
  rate_limit: may(z.number()),
  rate_limit_duration: may(z.number()),
  secrets: may(
    z.array(z.object({ value: z.string(), expires_at: may(z.string()), deleted_at: may(z.string()) })),
  ),
  authentication: may(
    z.object({
      type: may(z.string()),
      api_key: may(z.object({ header_name: z.string(), header_value: z.string() })),
      basic_auth: may(z.object({ username: z.string(), password: z.string() })),
    }),
  ),
  mtls_client_cert: may(z.unknown()),
});

/** `models.SubscriptionResponse`: what an endpoint gets. */
const subscription = z.object({
  endpoint_metadata: z.object({ uid: z.string() }),
  filter_config: may(
    z.object({
      event_types: may(z.array(z.string())),
      filter: may(z.object({ body: may(z.object({}).loose()), headers: may(z.object({}).loose()) })),
    }),
  ),
});

type ConvoyEndpoint = z.output<typeof endpoint>;
type ConvoySubscription = z.output<typeof subscription>;

const isSubscription = (part: unknown) => subscription.safeParse(part).success;

/** Convoy: what an endpoint gets is said by its subscriptions, which are a list of their own. */
export const convoy: Format = {
  name: 'Convoy',
  about: [
    'Convoy signs as X-Convoy-Signature, which Hookline does not: receivers have to verify webhook-signature by a library of Standard Webhooks.',
  ],
  read(documents) {
    const parts = partsIn(documents, contentOf);
    const subscriptions = parts.filter(isSubscription).map((part) => subscription.parse(part));
    return parts
      .filter((part) => !isSubscription(part))
      .map((part) => {
        const one = endpoint.parse(part);
        return found(
          one,
          subscriptions.filter(({ endpoint_metadata }) => endpoint_metadata.uid === one.uid),
        );
      });
  },
};

/** The parts of a page: `{"data": {"content": […]}}`. */
function contentOf(page: object): unknown {
  if ('data' in page && typeof page.data === 'object' && page.data !== null) return contentOf(page.data);
  return 'content' in page ? page.content : undefined;
}

function found(one: ConvoyEndpoint, subscriptions: readonly ConvoySubscription[]): ForeignEndpoint | LeftOut {
  const { uid, url, name, owner_id, status, rate_limit, rate_limit_duration } = one;
  const kinds = new Set(subscriptions.flatMap(({ filter_config }) => filter_config?.event_types ?? []));
  if (kinds.size === 0)
    return {
      id: uid,
      why: 'The files have no subscription with event types for it: export the subscriptions as well.',
    };
  const valid = one.secrets?.findLast(({ expires_at, deleted_at }) => !expires_at && !deleted_at);
  const { secret, notes } = secretOf(valid?.value);
  const { headers, isOther } = headersOf(one.authentication);
  const isFiltered = subscriptions.some(({ filter_config: config }) =>
    [config?.filter?.body, config?.filter?.headers].some((filter) => Object.keys(filter ?? {}).length > 0),
  );
  return {
    id: uid,
    body: {
      target_url: url,
      event_kinds: [...kinds],
      description: one.description || name || '',
      metadata: { ...(owner_id && { convoy_owner_id: owner_id }) },
      headers,
      ...(rate_limit && { rate_limit: rate_limit / (rate_limit_duration || 1) }),
      ...pausedIf(status !== 'active' && status, isFiltered && 'filter', 'Convoy'),
      ...(secret && { secret }),
    },
    notes: [
      ...notes,
      ...(isFiltered
        ? ['The filter of its subscription is not taken over: give it one here, then resume it.']
        : []),
      ...(isOther || one.mtls_client_cert ? ['Its OAuth 2.0 or client certificate is not taken over.'] : []),
    ],
  };
}

/** Headers that prove who sends, if the proof can be sent as such. */
function headersOf(authentication: ConvoyEndpoint['authentication']): {
  headers: Record<string, string>;
  isOther?: boolean;
} {
  const { type, api_key, basic_auth } = authentication ?? {};
  if (api_key) return { headers: { [api_key.header_name]: api_key.header_value } };
  if (basic_auth) {
    const { username, password } = basic_auth;
    return {
      headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
    };
  }
  return { headers: {}, isOther: Boolean(type) };
}
