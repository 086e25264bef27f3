import { Problem } from '../../../domain/http/problem.js';
import type { PayloadSealer } from '../../../domain/privacy/payload-sealer.js';

/** Payloads are erased by deleting the keys that they are encrypted with. @throws Problem 409 if they are not encrypted */
export function requireEncrypted({ encrypts }: PayloadSealer): void {
  if (!encrypts)
    throw new Problem(
      'payloads_not_encrypted',
      'Nothing was erased. Set HOOKLINE_PAYLOAD_KEYS ("hookline secret-key" makes a key): events that are accepted from then on can be erased.',
    );
}
