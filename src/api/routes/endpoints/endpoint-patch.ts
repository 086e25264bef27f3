import { z } from 'zod';
import { mergePatch } from '../../../domain/basics/objects.js';
import { MAX_METADATA } from '../../../domain/endpoint/endpoint.js';
import { MASKED_VALUE, MAX_HEADERS, maskHeaders } from '../../../domain/endpoint/endpoint-headers.js';
import { splitOptions } from '../../../domain/sending/delivery-options.js';
import type { EndpointInput, EndpointWithSecrets } from '../../../models/endpoint/endpoint-document.js';
import { recordOf } from '../../http/bounds/find-excess.js';
import type { ApiDependencies } from '../../http/context.js';
import { checkBody } from '../../http/validation.js';
import { checkEndpoint, endpointBody } from './endpoint-body.js';

const { target_url, event_kinds, description, rate_limit, status, status_reason, verification_method } =
  endpointBody.shape;
const {
  verify_token,
  retry_schedule,
  legacy_header_prefix,
  attempt_timeout,
  max_concurrency,
  payload_format,
  include_values,
} = endpointBody.shape;
/** Members to be removed, and to be added. */
const anObject = recordOf(z.string(), z.unknown(), 20).nullable().optional();
const { ordering, order_skip, order_skip_after } = endpointBody.shape;
/** Names to remove and names to add, each as many as there may be. */
const texts = (most: number) => recordOf(z.string(), z.string().nullable(), 2 * most);

/** A JSON Merge Patch of what the owner of an endpoint sends. The result of applying it is checked as a whole. */
export const endpointPatch = z.strictObject({
  target_url: target_url.optional(),
  event_kinds: event_kinds.optional(),
  filter: anObject,
  description: description.unwrap().nullable().optional(),
  metadata: texts(MAX_METADATA.entries).nullable().optional(),
  headers: texts(MAX_HEADERS).nullable().optional(),
  legacy_header_prefix: legacy_header_prefix.nullable(),
  rate_limit: rate_limit.nullable(),
  ordering: ordering.nullable(),
  order_skip: order_skip.nullable(),
  order_skip_after: order_skip_after.nullable(),
  status: status.unwrap().optional(),
  status_reason: status_reason.nullable(),
  verification_method: verification_method.unwrap().optional(),
  verify_token: verify_token.nullable(),
  retry_schedule: retry_schedule.nullable(),
  attempt_timeout: attempt_timeout.nullable(),
  max_concurrency: max_concurrency.nullable(),
  // Objects are merged, and checked as a whole then.
  authentication: anObject,
  client_certificate: anObject,
  legacy_signature: anObject,
  payload_format: payload_format.nullable(),
  include_values: include_values.nullable(),
});

export type EndpointPatch = z.output<typeof endpointPatch>;

/**
 * Applies a patch to an endpoint. A disabled endpoint stays disabled unless the patch names its status.
 *
 * @param knownKinds names of the account's own event kinds
 * @throws Problem 400 with an error for every field of the result that is wrong
 */
export function patchEndpoint(
  dependencies: ApiDependencies,
  patch: EndpointPatch,
  before: EndpointWithSecrets,
  knownKinds: readonly string[],
): EndpointInput {
  const body = checkBody(endpointBody, mergePatch(asBody(before, patch), patch));
  // A filter that is not named stays, also one from before today's bounds.
  if (patch.filter === undefined && before.filter) body.filter = before.filter;
  const input = checkEndpoint(dependencies, body, knownKinds, before);
  if (before.status !== 'disabled' || patch.status !== undefined) return input;
  const { status_reason: _, ...rest } = input;
  return {
    ...rest,
    status: 'disabled',
    ...(before.status_reason !== undefined && { status_reason: before.status_reason }),
  };
}

/**
 * An endpoint as its owner would have to send it for it to stay as it is, without a filter that is not patched. Secrets
 * are masked, and so stay as they are stored.
 */
function asBody(
  endpoint: EndpointWithSecrets,
  { filter, status: nextStatus }: EndpointPatch,
): z.input<typeof endpointBody> {
  const { status, status_when_verified, status_reason } = endpoint;
  const keepsReason = status === 'paused' && nextStatus !== 'active';
  return {
    target_url: endpoint.target_url,
    event_kinds: endpoint.event_kinds,
    ...(filter && { filter: endpoint.filter }),
    description: endpoint.description,
    metadata: endpoint.metadata,
    headers: maskHeaders(endpoint.header_names),
    legacy_header_prefix: endpoint.legacy_header_prefix,
    rate_limit: endpoint.rate_limit,
    ordering: endpoint.ordering,
    order_skip: endpoint.order_skip,
    order_skip_after: endpoint.order_skip_after,
    status: status === 'active' || status === 'paused' ? status : status_when_verified,
    ...(keepsReason && { status_reason }),
    verification_method: endpoint.verification_method,
    ...(endpoint.secrets.verify_token !== undefined && { verify_token: MASKED_VALUE }),
    retry_schedule: endpoint.retry_schedule,
    ...splitOptions(endpoint).options,
  };
}
