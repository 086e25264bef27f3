import { z } from 'zod';
import { PORTAL_SCOPES } from '../../../domain/access/portal-session.js';
import { timeSchema as time } from '../../http/schemas.js';

export const portalSessionSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(PORTAL_SCOPES)),
    created_at: time,
    expires_at: time,
    revoked_at: time.optional(),
  })
  .meta({ id: 'PortalSession' });

export const newPortalSessionSchema = portalSessionSchema
  .extend({
    token: z.string().describe('hlps_…: shown only in this response; Hookline keeps a hash'),
    url: z.string().describe('A link for the subscriber: the portal, with the token in the fragment'),
  })
  .meta({ id: 'NewPortalSession' });
