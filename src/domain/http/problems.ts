/**
 * Every error of the HTTP interface: stable code, HTTP status, title, and advice for the caller, in
 * Markdown with links from `docs/`. The one table of codes; `npm run docs` writes it into `docs/errors.md`, and
 * `/errors/{code}` shows it.
 */
export const PROBLEMS = {
  invalid_json: [
    400,
    'The body is not valid JSON',
    'Send one JSON text in UTF-8, without a byte order mark. `detail` says where it is wrong. A request that needs a body and has none gets this too, not 415.',
  ],
  invalid_payload: [
    400,
    'The payload does not match the schema of its event kind',
    'Correct the places in `errors`. The kind’s schema is at `GET /v18.0/event_kinds/{name}`.',
  ],
  payload_too_complex: [
    400,
    'The schema of the event kind is beyond the bounds',
    'Give the event kind a simpler schema: see the bounds of [schemas](events.md#schemas).',
  ],
  invalid_request: [400, 'The request is not valid', 'Correct the places in `errors`.'],
  invalid_fields: [
    400,
    'The requested fields are not valid',
    'Request fields that `detail` lists, each once, separated by commas.',
  ],
  account_not_named: [
    400,
    'The request does not name an account',
    'Send `Hookline-Account` with the id or reference of the account that the platform acts for.',
  ],
  insecure_target_url: [
    400,
    'The target URL is not https',
    'Register an `https` URL. Over `http` anybody on the way could read events.',
  ],
  malformed_request: [
    400,
    'The request is not valid HTTP',
    'Send HTTP/1.1 as RFC 9112 has it; `detail` says what the parser found. A proxy or your own client may have written it.',
  ],
  ambiguous_token: [
    400,
    'More than one access token was sent',
    'Send the token once: in the header or as `access_token`.',
  ],
  missing_token: [401, 'No access token was sent', 'Send `Authorization: Bearer <token>`.'],
  malformed_token: [
    401,
    'The access token is malformed',
    'Send the whole token after `Bearer` and a space. It was cut short or mistyped.',
  ],
  invalid_token: [
    401,
    'The access token is unknown',
    'Check that the token was issued by this installation.',
  ],
  expired_token: [401, 'The access token has expired', 'Get a new token.'],
  revoked_token: [401, 'The access token has been revoked', 'Get a new token.'],
  invalid_verification_token: [
    403,
    'The verification token is not valid',
    'Call the confirmation URL of the latest verification request, unchanged.',
  ],
  missing_scope: [403, 'The access token lacks a scope', 'Use a token that has the scope named in `detail`.'],
  portal_refused: [
    403,
    'A portal session may not do this',
    "Event kinds are the producer's: ask who gave you the link.",
  ],
  read_only: [
    403,
    'A role at the desk may only read',
    'Ask for a role that may act: `HOOKLINE_OIDC_ACT_ROLES` names those that do.',
  ],
  sign_in_refused: [
    403,
    'The sign-in to the desk was refused',
    'Sign in again. If `detail` says that you have no role, ask for one of `HOOKLINE_OIDC_READ_ROLES` or `HOOKLINE_OIDC_ACT_ROLES`.',
  ],
  expiring_key: [
    403,
    'An API key that expires cannot create what does not expire',
    'Use a key without `expires_at` to create or change OAuth clients, their secrets, and logins.',
  ],
  not_found: [404, 'Not found', 'Check the path and the id. Ids of other accounts give the same response.'],
  version_unknown: [404, 'The API version is unknown', 'Use the version named in `detail`.'],
  not_in_log: [
    404,
    'The log does not have it yet',
    'Try again after `Retry-After` seconds. `detail` gives the reason.',
  ],
  unknown_event_kind: [
    404,
    'The event kind is unknown',
    'Use a kind of the catalogue: `GET /v18.0/event_kinds`.',
  ],
  method_not_allowed: [
    405,
    'The method is not allowed for this path',
    'Use a method that the `Allow` header lists.',
  ],
  not_acceptable: [
    406,
    'The Accept header excludes JSON',
    'Leave `Accept` out, or include `application/json`. Without it, and for `*/*`, responses are JSON.',
  ],
  request_timeout: [
    408,
    'The request did not arrive in time',
    'Send the request again: headers and body without pauses.',
  ],
  idempotency_conflict: [
    409,
    'The idempotency key was used with a different body',
    'Use a new key for each event. Repeat a request with exactly the same body.',
  ],
  delivery_state_conflict: [
    409,
    'The delivery is in a state that does not allow this',
    '`detail` has the state of the delivery.',
  ],
  login_name_taken: [409, 'Another profile has this login name', 'Choose another login name.'],
  profile_in_use: [409, "The account's own profile cannot be deleted", 'Replace the profile instead.'],
  account_reference_taken: [
    409,
    'The platform has an account with this reference',
    'Use that account, or choose another reference.',
  ],
  account_state_conflict: [
    409,
    'The account is in a state that does not allow this',
    'The account is being deleted, or is deleted: it can only be read.',
  ],
  log_altered: [
    409,
    'The log is not the one that was signed',
    'Contact the operator: [proofs](proofs.md#if-somebody-alters-the-database). `detail` ends with the reason.',
  ],
  record_altered: [
    409,
    'A record is not the one that was recorded',
    'The database was altered: `detail` names the delivery, event or change, and the difference. Contact the operator: [records](records.md#altered-records).',
  ],
  endpoint_state_conflict: [
    409,
    'The endpoint is in a state that does not allow this',
    '`detail` has the state of the endpoint and the next step.',
  ],
  endpoint_limit_reached: [
    409,
    'The account has reached its limit of endpoints',
    "Delete an endpoint, or ask the operator or your platform for a higher limit (`HOOKLINE_MAX_ENDPOINTS`, or the account's `max_endpoints`).",
  ],
  filter_limit_reached: [
    409,
    'The filters of the account have reached their limit',
    'Shorten a [filter](endpoints.md#filter), or delete an endpoint that is not needed.',
  ],
  payloads_not_encrypted: [
    409,
    'Payloads are not encrypted, so they cannot be erased',
    'The operator must set `HOOKLINE_PAYLOAD_KEYS`. Later events can then be erased ([privacy](privacy.md)).',
  ],
  client_without_secret: [
    409,
    'The OAuth client has no secret',
    'Public clients use PKCE instead of a secret. Register a confidential client if it can keep a secret.',
  ],
  event_kind_conflict: [
    409,
    'The event kind cannot be changed in this way',
    '`detail` gives the reason: it is built in, exists already, is in use, or was changed at the same time.',
  ],
  event_kind_limit_reached: [
    409,
    'A limit of event kinds or of their versions is reached',
    'Delete a kind that is not in use. A kind with too many versions needs a new name.',
  ],
  not_a_portal_session: [
    409,
    'The token is not of a session',
    '`DELETE /v18.0/session` ends sessions of the portal and the desk alone. Revoke an API key with `DELETE /v18.0/api_keys/{id}`, an OAuth token at `/oauth/revoke`.',
  ],
  scheduled_event_conflict: [
    409,
    'The scheduled event cannot be changed any more',
    'It has been sent, or is being sent, or was changed at the same time: read it.',
  ],
  scheduled_event_limit_reached: [
    409,
    'The account has reached its limit of scheduled events',
    'Cancel some: `GET /v18.0/scheduled_events` lists them. Or send events when they are due.',
  ],
  replay_state_conflict: [
    409,
    'The replay is in a state that does not allow this',
    '`detail` has the state of the replay.',
  ],
  replay_limit_reached: [
    409,
    'The account has reached its limit of open replays',
    'Wait until one is finished, or cancel one: `GET /v18.0/replays` lists them.',
  ],
  payload_gone: [
    410,
    'The payload is no longer kept',
    'It was erased, or is older than `HOOKLINE_PAYLOAD_DAYS`. The certificate stays valid without it.',
  ],
  feed_position_gone: [
    410,
    'Events behind this position may have been removed',
    'Go on at the position that `detail` names: what came before is past its retention ([feed](feed.md)).',
  ],
  version_withdrawn: [410, 'The API version has been withdrawn', 'Move to the version named in `detail`.'],
  precondition_failed: [
    412,
    'The resource has changed since it was read',
    'Read the resource again and repeat the change with its new `ETag`.',
  ],
  payload_too_large: [413, 'The body is too large', 'Send less. The limit is in `detail`.'],
  unsupported_media_type: [
    415,
    'The media type is not supported',
    'Send `Content-Type: application/json`, without `Content-Encoding`.',
  ],
  expectation_failed: [
    417,
    'The expectation cannot be met',
    'Leave `Expect` out, or send `Expect: 100-continue`.',
  ],
  feed_consumer_limit_reached: [
    409,
    'The account has as many consumers of its feed as it may have',
    'Delete a consumer that is not used. `GET /v18.0/feed/consumers` lists them.',
  ],
  feed_wait_limit_reached: [
    429,
    'Too many requests wait for events',
    'Read the feed without `wait`, or share one reader. [feed](feed.md) has the limits.',
  ],
  rate_limited: [429, 'Too many requests', 'Wait for the number of seconds in `Retry-After`.'],
  head_too_large: [
    431,
    'The request line and the headers are too large',
    'Send a shorter query, or fewer and shorter headers: together they may have 16 KiB.',
  ],
  internal_error: [
    500,
    'An error occurred in Hookline',
    'Try again. If it happens again, report the `request_id`.',
  ],
  identity_provider_unavailable: [
    502,
    'The identity provider does not respond as it should',
    'Try again later, or sign in to the desk with an API key. The log of Hookline has the reason.',
  ],
  unavailable: [
    503,
    'The service is temporarily unavailable',
    'Try again after the number of seconds in `Retry-After`, with the same `Idempotency-Key`.',
  ],
} as const satisfies Record<string, readonly [status: number, title: string, advice: string]>;

export type ProblemCode = keyof typeof PROBLEMS;
