import { createdAt } from '../../../domain/basics/id-time.js';
import type { Json } from '../json.js';

const ACCOUNT = 'acct_01M7Y2T2PWVW0WKSH8RBEQW94E';
const ENDPOINT = 'ep_01M7Y2TZZ9K3C5R4Q0V8W1XHPN';
const EVENT = 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR';
const DELIVERY = 'dlv_01M7Y2V07RS2Y47QBBGSV7HTCR_01M7Y2TZZ9K3C5R4Q0V8W1XHPN';
const KEY = 'key_01M7Y2T4C3T0N1Z4J8VJX3M6QK';
const CLIENT = 'client_01M7Y2T6D4V8K2F5M9R3W7Y1ZA';
const PROFILE = 'prof_01M7Y2T2Q4C6E8G1J3M5P7R9TV';
const SESSION = 'ps_01M7Y6GW4KS6J1CRXD65YC46K4';
const REPLAY = 'rpl_01M7Y3N8Q2B5D7F9H1K3M5P7RS';
const RUN = '01a2003e-fd19-7c22-a501-e7432ba97ea2';
const TIME = '2026-11-21T12:00:00.000Z';
const LATER = '2026-11-21T12:00:00.094Z';

/**
 * Values of fields in examples: one purchase, delivered to one endpoint. A name is that of a field, of a field below
 * another (`incident.failures`), of a component (`Endpoint.id`), or of one operation's response
 * (`pauseEndpoint.status`); the narrowest counts. Several that have the same are separated by bars. Fields that a
 * response may leave out are shown only if a narrower name than the field's own gives them a value.
 */
const VALUES: Record<string, Json> = {
  // Ids
  account_id: ACCOUNT,
  endpoint_id: ENDPOINT,
  event_id: EVENT,
  profile_id: PROFILE,
  run_id: RUN,
  workflow_id: `${DELIVERY}:${ACCOUNT}`,
  request_id: 'req_01M7Y2V07RS2Y47QBBGSV7HTCR',
  'account|Account|NewAccount.id': ACCOUNT,
  'ApiKey|NewApiKey|actor.id': KEY,
  'Change|InstallationChange|getChangeIntegrity.id': 'chg_01M7Y2V3H5K7M9P1R3T5V7X9ZB',
  'Delivery|DeliveryRecord|DeliverySummary|ListedDelivery|InstallationDelivery|delivery|deliveries.id':
    DELIVERY,
  'Found|Integrity|Resend.id': DELIVERY,
  'Event|EventSummary|FeedEntry|getEventIntegrity.id': EVENT,
  'lost.why': 'MongoDB was restored: a checkpoint of 1204 records was signed, and MongoDB has 1180',
  'checks.detail': 'The signed log holds the record as number 3, in its checkpoint of 23 records.',
  'Endpoint|EndpointWithIncident|EndpointWithSecret|InstallationEndpoint.id': ENDPOINT,
  'getMe.id': PROFILE,
  'OAuthClient|OAuthClientWithSecret.id': CLIENT,
  'NewPortalSession|PortalSession.id': SESSION,
  'Replay.id': REPLAY,
  'ScheduledEvent.id': 'sch_01M7Y2V07RS2Y47QBBGSV7HTCR',
  'Erasure.id': 'ers_01M7Y4A1B2C3D4E5F6G7H8J9KM',

  // Times, and what is counted
  at: TIME,
  as_of: TIME,
  from: TIME,
  to: '2026-11-22T12:00:00.000Z',
  up_to: LATER,
  deliver_at: '2026-12-24T18:00:00.000Z',
  interval: '1h',
  month: '2026-11',
  day: '2026-11-21',
  version: 1,
  number: 1,
  position: EVENT.slice('evt_'.length),
  'FeedConsumer.name': 'warehouse',
  'FeedConsumer.up_to': createdAt(EVENT),
  attempts: 1,
  found: 0,
  done: 0,
  skipped: 0,
  failed: 0,
  rate: 50,
  deliveries: 1,
  overdue: 0,
  delivered: 1,
  exhausted: 0,
  expired: 0,
  cancelled: 0,
  delivering: 0,
  retrying: 1,
  parked: 0,
  duration_ms: 56,
  webhook_timestamp: 1795262400,
  exact: true,
  'InstallationStats.failing_endpoints': 0,
  followers_count: 120,
  following_count: 35,
  posts_count: 8,

  // Events and their kinds
  kind: 'purchase',
  event_kind: 'purchase',
  'Event.payload': {
    order_id: 'order-1001',
    customer_email: 'ada@example.com',
    total: 12.5,
    items: [{ name: 'Notebook', qty: 2 }],
    created_at: '2026-11-21T12:00:00Z',
  },
  'EventKind.name': 'order.shipped',
  'EventKind.description': 'A parcel has left the warehouse.',
  'EventKind|versions.created_at': TIME,
  'EventKind.updated_at': TIME,
  schema: { type: 'object', required: ['order_id'], properties: { order_id: { type: 'string' } } },

  // Endpoints
  target_url: 'https://shop.example.com/hooks',
  event_kinds: ['purchase'],
  metadata: {},
  headers: {},
  status: 'active',
  description: 'Order processing',
  signature_scheme: 'v1',
  'EndpointWithSecret.verified_at': TIME,
  'EndpointWithSecret|Secret.secret': 'whsec_l6ppco1GfkJtBUUAE7KqTODlk8OrN5oovX5lZNF5qVs=',
  'rotateEndpointSecret.previous_expires_at': '2026-11-22T12:00:00.000Z',
  'RotateEndpointSecretBody.overlap': '24h',
  'UpdateEndpointBody|updateEndpoint.description': 'Order processing, new warehouse',
  'UpdateEndpointBody|updateEndpoint.rate_limit': 10,
  'replaceEndpoint|updateEndpoint|pauseEndpoint.version': 2,
  'pauseEndpoint.status': 'paused',
  'pauseEndpoint.status_reason': 'Stock-taking until Monday.',
  'resumeEndpoint.version': 3,
  'verifyEndpoint.status': 'pending',
  'ReceivedRequest.id': '01M7Y2V07RS2Y47QBBGSV7HTCS',
  'ReceivedRequest.headers': {
    'webhook-id': 'evt_01M7Y2V07RS2Y47QBBGSV7HTCR',
    'webhook-event-kind': 'purchase',
  },
  'ReceivedRequest.body': '{"order_id":"1001"}',
  'ListenerTicket.expires_at': '2026-11-21T12:01:00.000Z',
  'ListenerTicket.ticket': 'AbcZm9yIGV4YW1wbGUtMDE',
  'ListenerTicket.path': `/v18.0/listeners/${ENDPOINT}/stream`,

  // Deliveries
  'Delivery|DeliverySummary|ListedDelivery|record.status': 'delivered',
  'Delivery|DeliverySummary|ListedDelivery|cancelReplay.closed_at': LATER,
  'Delivery|DeliverySummary|ListedDelivery.reason': 'The endpoint responded with 2xx.',
  'LastAttempt|TimelineItem.number': 1,
  'LastAttempt|TimelineItem.duration_ms': 56,
  'Attempt|LastAttempt|TimelineItem.status_code': 200,
  'BusinessKey.name': 'order_id',
  'BusinessKey.value': '1001',
  'Delivery.payload_sha256': '40b4d5180090b6cba754d522ba2b2cb12d1c49cb02550c09b965fac0398b6fd5',
  'Delivery.payload_bytes': 154,
  'Attempt.url': 'https://shop.example.com/hooks',
  'Attempt.address': '203.0.113.7',
  'Attempt.endpoint_version': 1,
  'Attempt.response_bytes': 2,
  'Attempt.response_sha256': '2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df',
  'Attempt.response_snippet': 'ok',
  'Attempt.trigger': 'schedule',
  'Attempt.timings_ms': { dns: 2, connect: 11, tls: 19, first_byte: 24 },
  url_host: 'shop.example.com',
  'TimelineItem.type': 'attempt',
  'TimelineItem.text': 'Attempt 1 got a 200 response, after 56 ms.',
  by: KEY,
  reason: 'The shop has a new address.',
  'retryDelivery|resumeDelivery.status': 'retrying',
  'cancelDelivery.status': 'cancelled',
  'cancelDelivery.closed_at': TIME,
  'pauseDelivery.status': 'parked',
  'RetryDeliveryBody.reason': 'The receiver is back.',
  'CancelDeliveryBody.reason': 'The order was a test.',
  'PauseDeliveryBody.reason': 'The receiver is being moved.',
  'ResumeDeliveryBody.reason': 'The receiver has moved.',
  'ResendDeliveryBody.reason': 'The receiver lost it.',

  // Replays
  'Replay.workflow_id': `replay:${REPLAY}:${ACCOUNT}`,
  'Replay.action': 'resend',
  'Replay.mode': 'failed',
  'Replay.filter': { endpoint_id: ENDPOINT },
  'Replay|ReplayPreview.found': 42,
  'Replay.done': 40,
  'Replay.skipped': 0,
  'Replay.failed': 0,
  'Replay.state': 'running',
  'Replay.reason': 'The receiver was down.',
  'createReplay.state': 'running',
  'createReplay.done': 0,
  'pauseReplay.state': 'paused',
  'cancelReplay.state': 'cancelled',
  sample: [DELIVERY],
  event_ids: [EVENT],
  'WhatIf.events': 1_204,
  'WhatIf.deliveries': { count: 312, event_ids: [EVENT] },
  'WhatIf.left_out': {
    event_kind: { count: 0, event_ids: [] },
    filter: { count: 892, event_ids: ['evt_01M7Y2V07RS2Y47QBBGSV7HTCS'] },
    named_endpoints: { count: 0, event_ids: [] },
    payload_unavailable: { count: 0, event_ids: [] },
  },
  'WhatIf.complete': true,
  'PauseReplayBody.reason': 'The receiver is slow.',
  'ResumeReplayBody.reason': 'The receiver is fast again.',
  'CancelReplayBody.reason': 'The wrong endpoint.',

  // Permissions
  name: 'Shop',
  'createApiKey|ApiKey.name': 'website',
  'Account|NewAccount.name': 'Acme',
  'Account|NewAccount.reference': 'customer-42',
  'UpdateAccountBody.limits': { max_endpoints: 50 },
  limits: { events_per_minute: 600 },
  'NewApiKey.key': 'hlk_RVgAFAZG60JTTZZa-eRJFprpCSjf7mEHeoOuCH1bl0wZISuJ_',
  scopes: ['events:write', 'deliveries:read'],
  'DeskSession.id': 'ds_01M7Y2V07RS2Y47QBBGSV7HTCS',
  'DeskSession.issuer': 'https://login.example.com',
  'DeskSession.subject': 'user-7',
  'DeskSession.name': 'Ada Lovelace',
  'OAuthClientWithSecret.secret': 'hlcs_7mEHeoOuCH1bl0wZISuJ-RVgAFAZG60JTTZZaeRJFprpCS',
  'OAuthClient|OAuthClientWithSecret|ReplaceOAuthClientBody.grant_types': ['client_credentials'],
  'RotateOAuthClientSecretBody.overlap': '1h',
  token_endpoint_auth_method: 'client_secret_basic',
  redirect_uris: [],
  'CreatePortalSessionBody|NewPortalSession|PortalSession.scopes': ['endpoints:read', 'deliveries:read'],
  'NewPortalSession|PortalSession.name': 'Ada at Acme',
  'NewPortalSession|PortalSession.expires_at': '2026-11-21T13:00:00.000Z',
  token: 'hlps_RVgAFAZG60JTTZZa-eRJFprpCSjf7mEHeoOuCH1bl0wZISuJ_',
  url: 'https://hookline.example.com/portal#hlps_RVgAFAZG60JTTZZa-eRJFprpCSjf7mEHeoOuCH1bl0wZISuJ_',
  username: 'shop',
  'getMe.username': 'shop',
  'getMe.name': 'Shop',
  biography: 'Sells notebooks.',
  website: 'https://shop.example.com',
  picture_url: null,
  login_name: 'ada@example.com',
  password: 'difference engine',

  // Changes
  'Change|InstallationChange.resource': `endpoint:${ENDPOINT}`,
  'Change.version': 2,
  'Change.action': 'paused',
  'actor.type': 'api_key',
  'Change.address': '192.0.2.10',
  'Change.request_id': 'req_01M7Y2V07RS2Y47QBBGSV7HTCR',
  'Change.reason': 'Stock-taking until Monday.',
  changed: ['/status', '/status_reason'],
  'Change.before': { status: 'active' },
  'Change.after': { status: 'paused', status_reason: 'Stock-taking until Monday.' },

  // Exports
  'exportRecords.id': EVENT,
  'exportRecords.after': 'YWZ0ZXItdGhlLWxhc3QtbGluZQ',

  // Certificates
  delivery_id: DELIVERY,
  'record.delivery_id': DELIVERY,
  leaf_index: 4711,
  inclusion_proof: ['hPTK9CZWQS3B6Wcdwmn8vWlHkhKb6YbRNIlEyZQ2Ahw='],
  proof: ['hPTK9CZWQS3B6Wcdwmn8vWlHkhKb6YbRNIlEyZQ2Ahw='],
  checkpoint:
    'hookline.example.com/log\n4712\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— hookline.example.com/log Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n',
  log_key: 'hookline.example.com/log+03c0d8a3+AZtA6pQd7vxxE2ZmP2kWm4ZJq0yS5n0v4mS1Qe5oM4Qp',
  payload: '{"order_id":"order-1001","total":12.5}',
  salt: 'l6ppco1GfkJtBUUAE7KqTODlk8OrN5oovX5lZNF5qVs=',

  // Erasures of personal data
  requested_by: KEY,
  'key.id': 'Zm9yIGV4YW1wbGUtMDE',

  // Lists
  'paging.cursors': {},
};

/** The same, a name each. */
export const EXAMPLE_VALUES: Record<string, Json> = Object.fromEntries(
  Object.entries(VALUES).flatMap(([names, value]) => {
    const [owners = '', field] = names.split('.');
    return owners.split('|').map((owner) => [field ? `${owner}.${field}` : owner, value]);
  }),
);
