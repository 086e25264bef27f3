import type { Schemas } from '../../../api/types.js';

/** Keys with which a subscriber verifies deliveries. */
export type Keys = Pick<
  Schemas['Secret'],
  'secret' | 'public_key' | 'signature_scheme' | 'previous_expires_at'
>;
