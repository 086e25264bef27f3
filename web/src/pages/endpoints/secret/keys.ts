import type { Schemas } from '../../../api/types.js';

/** What a subscriber verifies deliveries with. */
export type Keys = Pick<
  Schemas['Secret'],
  'secret' | 'public_key' | 'signature_scheme' | 'previous_expires_at'
>;
