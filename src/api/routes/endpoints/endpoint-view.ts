import { schemeOf, verificationKey } from '../../../domain/delivery/signature.js';
import { MASKED_VALUE, maskHeaders } from '../../../domain/endpoint/endpoint-headers.js';
import type { StoredEndpoint } from '../../../models/endpoint/endpoint-document.js';

/** An endpoint as it is shown: no secret in it, and of headers the names. */
export function renderEndpoint(endpoint: StoredEndpoint) {
  const {
    signing_keys,
    verification_token: _,
    status_when_verified: __,
    verified_url: ___,
    failing: ____,
    verify_token,
    headers,
    ...plain
  } = endpoint;
  const [newest] = signing_keys;
  const key = newest && verificationKey(newest.secret);
  return {
    ...plain,
    headers: maskHeaders(headers),
    ...(verify_token !== undefined && { verify_token: MASKED_VALUE }),
    ...(newest && { signature_scheme: schemeOf(newest.secret) }),
    ...(key && 'public_key' in key && key),
  };
}

/** What its subscriber verifies deliveries with, where that is asked for by name: the newest key, and what else signs during an overlap. */
export function renderKeys({ signing_keys }: StoredEndpoint) {
  const [newest, ...previous] = signing_keys;
  return {
    ...(newest && { signature_scheme: schemeOf(newest.secret), ...verificationKey(newest.secret) }),
    ...(previous[0]?.expires_at && { previous_expires_at: previous[0].expires_at }),
  };
}
