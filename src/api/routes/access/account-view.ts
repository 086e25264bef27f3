import { z } from 'zod';
import { timeSchema as time } from '../../http/schemas.js';
import { apiKeyWithKeySchema } from './api-key-view.js';

export const accountSchema = z
  .object({ id: z.string(), name: z.string(), created_at: time })
  .meta({ id: 'Account' });

export const accountWithKeySchema = accountSchema
  .extend({ api_key: apiKeyWithKeySchema })
  .meta({ id: 'NewAccount' });
