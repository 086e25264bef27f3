import type { Keys } from './keys.js';

/** How deliveries are signed. */
export type Scheme = Keys['signature_scheme'];

/** What each scheme signs with. */
export const SCHEMES: Readonly<Record<Scheme, string>> = { v1: 'shared secret', v1a: 'key pair' };
