import { toPointer } from '../../../packages/payload-contract/src/json-pointer.js';
import { omit } from '../../domain/basics/objects.js';
import type { ChangeAction } from '../../domain/change/change.js';
import type { EndpointStatus } from '../../domain/endpoint/endpoint.js';
import { MASKED_VALUE, maskHeaders } from '../../domain/endpoint/endpoint-headers.js';
import { maskOptions, splitOptions } from '../../domain/sending/delivery-options.js';
import type {
  EndpointDocument,
  EndpointInput,
  EndpointSecrets,
  StoredEndpoint,
} from './endpoint-document.js';

/** Whether an endpoint is still the one that something was found out about; absent: whichever it is. */
export function isAbout(
  { verification_revision }: EndpointDocument,
  verificationRevision: number | undefined,
): boolean {
  return verificationRevision === undefined || verification_revision === verificationRevision;
}

/** Action of the owner, by the new status. */
export function actionOf(before: EndpointStatus, after: EndpointStatus): ChangeAction {
  if (before !== after && after === 'paused') return 'paused';
  return after === 'active' && before !== 'pending' && before !== 'active' ? 'resumed' : 'updated';
}

/** Which secrets got another value. New ones and removed ones are seen by their names. */
export function changedSecrets(before: EndpointSecrets, after: EndpointInput): string[] {
  const headers = Object.entries(after.headers).filter(
    ([name, value]) => (before.headers[name] ?? value) !== value,
  );
  const token = before.verify_token && after.verify_token && before.verify_token !== after.verify_token;
  const { secrets } = maskOptions(splitOptions(after).options);
  const options = Object.keys(secrets).filter(
    (pointer) => (before.options[pointer] ?? secrets[pointer]) !== secrets[pointer],
  );
  return [
    ...headers.map(([name]) => toPointer(['headers', name])),
    ...(token ? ['/verify_token'] : []),
    ...options,
  ];
}

/** An endpoint as it is shown, by the API and in changes: without secrets, and with the names of its headers. */
export function renderEndpoint(endpoint: StoredEndpoint) {
  const { sealed, header_names, ...plain } = endpoint;
  const [newest] = sealed.signing_keys;
  return {
    ...omit(plain, 'status_when_verified', 'verified_url', 'failing', 'verification_revision'),
    headers: maskHeaders(header_names),
    ...(sealed.verify_token && { verify_token: MASKED_VALUE }),
    ...(newest && { signature_scheme: newest.scheme }),
    ...(newest?.public_key && { public_key: newest.public_key }),
  };
}
