import type { Schemas } from '../../../api/types.js';
import { snippet } from './snippets.js';

/** Keys with which a subscriber verifies deliveries. */
export type Keys = Pick<
  Schemas['Secret'],
  'secret' | 'public_key' | 'signature_scheme' | 'previous_expires_at'
>;

/** How deliveries are signed. */
export type Scheme = Keys['signature_scheme'];

/**
 * Name of each scheme, what a subscriber has of it, and how deliveries are verified: the code of a receiver, or what to
 * do where there is none.
 */
export const SCHEMES: Readonly<
  Record<Scheme, { name: string; key: string; verify: typeof snippet | string }>
> = {
  v1: { name: 'shared secret', key: 'secret', verify: snippet },
  v1a: {
    name: 'key pair',
    key: 'public key',
    verify:
      "This endpoint's deliveries are signed with a key pair (v1a, ed25519). Verify them with the public key and a library of Standard Webhooks that knows v1a.",
  },
};
