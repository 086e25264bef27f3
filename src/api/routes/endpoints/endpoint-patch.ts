import { z } from 'zod';
import { mergePatch } from '../../../domain/basics/merge-patch.js';
import { MASKED_VALUE, maskHeaders } from '../../../domain/endpoint/endpoint-headers.js';
import type { EndpointInput, EndpointWithSecrets } from '../../../models/endpoint/endpoint-document.js';
import { checkShape } from '../../http/body.js';
import { checkEndpoint, type EndpointRules, endpointBody } from './endpoint-body.js';

const { target_url, event_kinds, description, rate_limit, status, status_reason, verification_method } =
  endpointBody.shape;
const { verify_token, retry_schedule } = endpointBody.shape;
const texts = z.record(z.string(), z.string().nullable());

/** A JSON Merge Patch of what the owner of an endpoint sends. What it gives once it is applied is checked as a whole. */
export const endpointPatch = z.strictObject({
  target_url: target_url.optional(),
  event_kinds: event_kinds.optional(),
  filter: z.record(z.string(), z.unknown()).nullable().optional(),
  description: description.unwrap().nullable().optional(),
  metadata: texts.nullable().optional(),
  headers: texts.nullable().optional(),
  rate_limit: rate_limit.nullable(),
  status: status.unwrap().optional(),
  status_reason: status_reason.nullable(),
  verification_method: verification_method.unwrap().optional(),
  verify_token: verify_token.nullable(),
  retry_schedule: retry_schedule.nullable(),
});

export type EndpointPatch = z.output<typeof endpointPatch>;

/**
 * Applies a patch to an endpoint. A disabled endpoint stays disabled unless the patch names its status.
 *
 * @param knownKinds names of the account's own event kinds
 * @throws Problem 400 with an error for every field of the result that is wrong
 */
export function patchEndpoint(
  patch: EndpointPatch,
  before: EndpointWithSecrets,
  rules: EndpointRules,
  knownKinds: readonly string[],
): EndpointInput {
  const input = checkEndpoint(
    checkShape(endpointBody, mergePatch(asBody(before, patch.status), patch)),
    rules,
    knownKinds,
    before,
  );
  if (before.status !== 'disabled' || patch.status !== undefined) return input;
  const { status_reason: _, ...rest } = input;
  return {
    ...rest,
    status: 'disabled',
    ...(before.status_reason !== undefined && { status_reason: before.status_reason }),
  };
}

/** An endpoint as its owner would have to send it for it to stay as it is. Secrets are masked, and so stay as they are stored. */
function asBody(
  endpoint: EndpointWithSecrets,
  nextStatus: EndpointPatch['status'],
): z.input<typeof endpointBody> {
  const { status, status_when_verified, status_reason } = endpoint;
  const keepsReason = status === 'paused' && nextStatus !== 'active';
  return {
    target_url: endpoint.target_url,
    event_kinds: endpoint.event_kinds,
    filter: endpoint.filter,
    description: endpoint.description,
    metadata: endpoint.metadata,
    headers: maskHeaders(endpoint.header_names),
    rate_limit: endpoint.rate_limit,
    status: status === 'active' || status === 'paused' ? status : status_when_verified,
    ...(keepsReason && { status_reason }),
    verification_method: endpoint.verification_method,
    ...(endpoint.secrets.verify_token !== undefined && { verify_token: MASKED_VALUE }),
    retry_schedule: endpoint.retry_schedule,
  };
}
