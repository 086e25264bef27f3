import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';
import { timeSchema as time } from '../../http/schemas.js';

export const apiKeySchema = z
  .object({
    id: z.string(),
    account_id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    profile_id: z.string().optional(),
    created_at: time,
    expires_at: time.optional(),
    last_used_at: time.optional().describe('To within a minute'),
    revoked_at: time.optional(),
  })
  .meta({ id: 'ApiKey' });

export const apiKeyWithKeySchema = apiKeySchema
  .extend({
    key: z.string().describe('The key, hlk_…: shown only in this response; Hookline keeps a hash'),
  })
  .meta({ id: 'NewApiKey' });
