import type { Keys } from './keys.js';

/** How deliveries are signed. */
export type Scheme = Keys['signature_scheme'];

/** Algorithm of each scheme. */
export const SCHEMES: Readonly<Record<Scheme, string>> = { v1: 'shared secret', v1a: 'key pair' };
