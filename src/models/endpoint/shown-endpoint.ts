import { MASKED_VALUE, maskHeaders } from '../../domain/endpoint/endpoint-headers.js';
import type { StoredEndpoint } from './endpoint-document.js';

/** An endpoint as it is shown, by the API and in changes: without secrets, and with the names of its headers. */
export function renderEndpoint(endpoint: StoredEndpoint) {
  const {
    sealed,
    header_names,
    status_when_verified: _,
    verified_url: __,
    failing: ___,
    verification_revision: ____,
    ...plain
  } = endpoint;
  const [newest] = sealed.signing_keys;
  return {
    ...plain,
    headers: maskHeaders(header_names),
    ...(sealed.verify_token && { verify_token: MASKED_VALUE }),
    ...(newest && { signature_scheme: newest.scheme }),
    ...(newest?.public_key && { public_key: newest.public_key }),
  };
}
