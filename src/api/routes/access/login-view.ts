import { z } from 'zod';
import { SCOPES } from '../../../domain/access/api-key.js';

export const loginSchema = z
  .object({
    account_id: z.string(),
    profile_id: z.string(),
    login_name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
  })
  .meta({ id: 'Login' });
