import { z } from 'zod';
import { isId } from '../../../domain/basics/ids.js';
import { SCHEMES, SIGNATURE_SCHEMES, schemeOf, verificationKey } from '../../../domain/delivery/signature.js';
import { ENDPOINT_STATUSES, VERIFICATION_METHODS } from '../../../domain/endpoint/endpoint.js';
import { ORDER_SKIPS } from '../../../domain/event/ordering.js';
import { renderEndpoint } from '../../../models/endpoint/endpoint-change.js';
import type { EndpointSecrets, StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';
import type { Incidents } from '../../../temporal/write/incidents.js';
import { listParameter } from '../../http/parameters.js';
import { timeSchema as time } from '../../http/schemas.js';
import { shownDeliveryOptions } from './delivery-options.js';

export { renderEndpoint };

export const endpointSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    version: z.int().describe('1 at first, and one more with each change'),
    target_url: z.string(),
    listener: z
      .boolean()
      .optional()
      .describe('Temporary: its deliveries go to a connected `hookline listen`'),
    inbox: z
      .boolean()
      .optional()
      .describe('A test inbox: Hookline keeps what is delivered to it, for an hour'),
    event_kinds: z.array(z.string()),
    filter: z.record(z.string(), z.unknown()).optional(),
    description: z.string(),
    metadata: z.record(z.string(), z.string()),
    headers: z.record(z.string(), z.string()).describe('Names of headers; the values are masked'),
    legacy_header_prefix: z.string().optional().describe('The signature is sent under this prefix, too'),
    rate_limit: z.number().optional().describe('Deliveries per second, at most'),
    ordering: z
      .enum(['key', 'endpoint'])
      .optional()
      .describe('Which deliveries wait for each other; absent: none'),
    order_skip: z.enum(ORDER_SKIPS).optional(),
    order_skip_after: z.string().optional(),
    allowed_rate: z.int().optional().describe('Deliveries per minute that the subscriber allowed'),
    status: z.enum(ENDPOINT_STATUSES),
    status_reason: z.string().optional(),
    status_changed_at: time,
    verification_method: z.enum(VERIFICATION_METHODS),
    verify_token: z.string().optional().describe('Masked'),
    verified_at: time.optional(),
    signature_scheme: z.enum(SIGNATURE_SCHEMES),
    public_key: keyField('public_key'),
    retry_schedule: z.array(z.string()).optional(),
    ...shownDeliveryOptions,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Endpoint' });

const keyFields = {
  secret: keyField('secret'),
  public_key: keyField('public_key'),
  signature_scheme: z.enum(SIGNATURE_SCHEMES),
  previous_expires_at: time.optional().describe('Until then the previous ones sign too'),
};

export const endpointWithIncidentSchema = endpointSchema
  .extend({
    incident: z
      .object({
        since: time,
        failures: z.int().optional(),
        last_failure: z.string().optional(),
        last_failure_at: time.optional(),
        next_probe_at: time.optional().describe('Absent while no delivery has to wait'),
        disable_at: time.optional().describe('When it is disabled unless it succeeds before'),
      })
      .optional()
      .describe(
        'Absent if the endpoint is not failing. While Temporal is unavailable, it has since, and next_probe_at if deliveries wait',
      ),
  })
  .meta({ id: 'EndpointWithIncident' });

/** An endpoint as lists show it, with its incident if it is failing. */
export async function withIncident(incidents: Incidents, endpoint: StoredEndpoint) {
  const { account_id, id: endpoint_id, failing } = endpoint;
  const incident = await incidents.of({ account_id, endpoint_id }, failing);
  return { ...renderEndpoint(endpoint), incident };
}

/** Filters of lists of endpoints. */
export const endpointParameters = {
  after: z
    .string()
    .refine((text) => isId('endpoint', text), 'must be a cursor of this list, as an earlier page gave it')
    .optional(),
  status: listParameter(ENDPOINT_STATUSES, 'One of these statuses, separated by commas'),
  health: z.enum(['healthy', 'failing']).optional().meta({ description: 'failing: it has an open incident' }),
};

export const endpointWithSecretSchema = endpointSchema.extend(keyFields).meta({ id: 'EndpointWithSecret' });

export const secretSchema = z.object(keyFields).meta({ id: 'Secret' });

/** Keys with which a subscriber verifies deliveries: the newest one, and until when the others sign as well. */
export function renderKeys({ signing_keys }: EndpointSecrets) {
  const [newest, ...previous] = signing_keys;
  return {
    ...(newest && { signature_scheme: schemeOf(newest.secret), ...verificationKey(newest.secret) }),
    ...(previous[0]?.expires_at && { previous_expires_at: previous[0].expires_at }),
  };
}

/** A key that some schemes show, with their names. */
function keyField(field: 'secret' | 'public_key') {
  const texts = Object.entries(SCHEMES).flatMap(([name, { shown }]) =>
    shown[field] === undefined ? [] : [`${shown[field]}…, with the scheme ${name}`],
  );
  return z.string().optional().describe(texts.join('; '));
}
