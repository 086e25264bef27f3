import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import { CLIENT_AUTH_METHODS, GRANT_TYPES } from '../../../domain/access/oauth-client.js';
import { timeSchema as time } from '../../http/schemas.js';

export const oauthClientSchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    grant_types: z.array(z.enum(GRANT_TYPES)),
    redirect_uris: z.array(z.string()),
    scopes: z.array(z.enum(SCOPES)),
    token_endpoint_auth_method: z.enum(CLIENT_AUTH_METHODS),
    created_at: time,
  })
  .meta({ id: 'OAuthClient' });

export const oauthClientWithSecretSchema = oauthClientSchema
  .extend({
    secret: z.string().optional().describe('hlcs_…: shown only in this response; a public client has none'),
  })
  .meta({ id: 'OAuthClientWithSecret' });
