import { cutText } from '../text/unicode.js';

/**
 * Every error that the HTTP interface answers with: stable code, HTTP status, title. The one table of codes; `docs/errors.md`
 * explains them.
 */
export const PROBLEMS = {
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_payload: [400, 'The payload does not match the schema of its event kind'],
  payload_too_complex: [400, 'Checking the payload takes too long'],
  invalid_request: [400, 'The request is not valid'],
  invalid_fields: [400, 'The requested fields are not valid'],
  account_not_named: [400, 'The request does not name an account'],
  insecure_target_url: [400, 'The target URL is not https'],
  ambiguous_token: [400, 'More than one access token was sent'],
  missing_token: [401, 'No access token was sent'],
  malformed_token: [401, 'The access token is malformed'],
  invalid_token: [401, 'The access token is unknown'],
  expired_token: [401, 'The access token has expired'],
  revoked_token: [401, 'The access token has been revoked'],
  invalid_verification_token: [403, 'The verification token is not valid'],
  missing_scope: [403, 'The access token lacks a scope'],
  portal_refused: [403, 'A portal session may not do this'],
  expiring_key: [403, 'An API key that expires cannot create what does not expire'],
  not_found: [404, 'Not found'],
  version_unknown: [404, 'The API version is unknown'],
  not_in_log: [404, 'The log does not have it yet'],
  unknown_event_kind: [404, 'The event kind is unknown'],
  method_not_allowed: [405, 'The method is not allowed for this path'],
  not_acceptable: [406, 'The Accept header excludes JSON'],
  idempotency_conflict: [409, 'The idempotency key was used with a different body'],
  delivery_state_conflict: [409, 'The delivery is in a state that does not allow this'],
  login_name_taken: [409, 'Another profile has this login name'],
  profile_in_use: [409, "The account's own profile cannot be deleted"],
  account_reference_taken: [409, 'The platform has an account with this reference'],
  account_state_conflict: [409, 'The account is in a state that does not allow this'],
  log_altered: [409, 'The log is not the one that was signed'],
  record_altered: [409, 'A record is not the one that was recorded'],
  endpoint_state_conflict: [409, 'The endpoint is in a state that does not allow this'],
  endpoint_limit_reached: [409, 'The account has reached its limit of endpoints'],
  filter_limit_reached: [409, 'The filters of the account have reached their limit'],
  payloads_not_encrypted: [409, 'Payloads are not encrypted, so they cannot be erased'],
  client_without_secret: [409, 'The OAuth client has no secret'],
  event_kind_conflict: [409, 'The event kind cannot be changed in this way'],
  event_kind_limit_reached: [409, 'A limit of event kinds or of their versions is reached'],
  not_a_portal_session: [409, 'The token is not of a portal session'],
  replay_state_conflict: [409, 'The replay is in a state that does not allow this'],
  replay_limit_reached: [409, 'The account has reached its limit of open replays'],
  payload_gone: [410, 'The payload is not kept any more'],
  version_withdrawn: [410, 'The API version has been withdrawn'],
  precondition_failed: [412, 'The resource has changed since it was read'],
  payload_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The media type is not supported'],
  rate_limited: [429, 'Too many requests'],
  internal_error: [500, 'An error occurred in Hookline'],
  unavailable: [503, 'The service is temporarily unavailable'],
} as const satisfies Record<string, readonly [number, string]>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One place in the input that is wrong. */
export interface InputError {
  /** JSON Pointer (RFC 6901) into the body; absent if the error is in a parameter or header. */
  pointer?: string;
  /** Name of a path, query or header parameter. */
  parameter?: string;
  /** What is wrong and what to change: the end of a sentence that begins with the place, such as `must be a string`. */
  detail: string;
}

/** The most wrong places that an answer tells of. */
export const MAX_ERRORS = 20;
/** Characters of a name or a pointer that is told; more is cut. */
export const MAX_SHOWN = 200;
/** Characters of what is told of an error as a whole: enough for as many places as there may be. */
const MAX_DETAIL = 8_000;

/** An error that the caller receives as a problem document (RFC 9457). Anything else that is thrown becomes a bare 500. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly InputError[];
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param detail a sentence for the person who reads it: what happened, and what to change
   * @param options `errors`: each wrong place, of which the first {@link MAX_ERRORS} are told, so that an answer does not grow with what was
   *   sent; `headers`: sent along, such as `Retry-After`
   */
  constructor(
    code: ProblemCode,
    detail: string,
    options: { errors?: readonly InputError[]; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(cutText(detail, MAX_DETAIL, '…'), { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.errors = (options.errors ?? []).slice(0, MAX_ERRORS).map(shortened);
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code][0];
  }

  get title(): string {
    return PROBLEMS[this.code][1];
  }
}

function shortened({ pointer, parameter, detail }: InputError): InputError {
  return {
    ...(pointer !== undefined && { pointer: cutText(pointer, MAX_SHOWN, '…') }),
    ...(parameter !== undefined && { parameter: cutText(parameter, MAX_SHOWN, '…') }),
    detail: cutText(detail, 5 * MAX_SHOWN, '…'),
  };
}

/** The caller's account has nothing of that id. @param resource as a person calls it: `profile`, `API key` */
export function notFound(resource: string, id: string): Problem {
  return new Problem('not_found', `There is no ${resource} ${id}.`);
}
