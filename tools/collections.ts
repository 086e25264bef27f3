import '../src/models/database.js';
import { COLLECTIONS } from '../src/models/mongo/collection.js';

/** A document of each collection, by the part of Hookline that it belongs to. */
const MEANINGS: Readonly<Record<string, string>> = {
  events: 'An accepted event: its sealed payload, its endpoints, and the execution that delivers it',
  deliveries: 'A delivery: its state, and its record once it is closed',
  event_batches: 'The decision to accept all events of a request',
  event_kinds: 'An event kind, with the versions of its schema',
  scheduled_events: 'An event that is accepted at a later time',
  starters: 'A process that starts deliveries, and how often it has said that it is there',
  unannounced_ends: 'The end of a delivery without success, until its account was told',
  private_inputs: 'An input of an execution that may not be in a history',
  replays: 'A replay: what it selects, and how it ended',
  order_places: 'The number of a delivery in its order',
  order_streams: 'How far an order is',
  feed_late: 'An event with another place in the feed than its id says',
  feed_reads: 'How far the feed was read by anybody',
  feed_consumers: 'A consumer of the feed, and its position',
  endpoints: 'An endpoint, with its sealed secrets and its circuit breaker',
  incidents: 'A time in which an endpoint failed',
  attempt_leases: 'The attempts in flight at an endpoint with a limit of them',
  delivery_turns: 'The next free slot of an endpoint with a rate limit',
  listeners: 'A listener of `hookline listen`, and the node that it is connected to',
  inbox_requests: 'A request that a test inbox has received',
  used_tickets: 'A ticket for a download or a connection, which is good for one use',
  segments: 'Records that were made together: the leaves of the log, in order, and what usage counts',
  log_tiles: 'A tile of the log: 256 hashes of a level',
  log_heads: 'The last signed checkpoint',
  log_stamps: 'A signed checkpoint of an earlier time',
  log_keys: 'The sealed key that signs checkpoints',
  changes: 'Who changed what, and when',
  sequences: "The next number of an account's events, and the blocks that processes have",
  sequence_holders: 'A process that has blocks of numbers',
  sequence_voids: 'Numbers that no event will have',
  sequence_restores: 'A time at which the database was found older than what is known outside of it',
  data_keys: 'A sealed key that payloads are encrypted with',
  erased_data_keys: 'A data key that was erased',
  data_key_home: 'That a database of data keys belongs to this one',
  erasures: 'An erasure, and what it covered',
  key_secrets: "The sealed secret that an account's business keys are hashed with",
  accounts: 'An account, and its limits',
  account_references: 'A reference by which a platform knows an account',
  account_locks: 'A process that changes an account alone at the moment',
  api_keys: 'An API key: its hash and its scopes',
  oauth_clients: 'An OAuth client',
  oauth_tokens: 'An OAuth token, by its hash',
  oauth_state: 'A step of an OAuth flow',
  oauth_marks: 'Something of OAuth that ended before it expired',
  logins: 'The name and the hashed password of a person',
  profiles: 'A profile',
  portal_sessions: 'A session of the portal',
  desk_sessions: 'A session of the desk',
  installation_secrets: 'A secret that all processes share',
  rate_rows: 'Requests of a caller in a window of a rate limit',
  minutes: 'Attempts by minute',
  tallies: 'Closed deliveries by endpoint, event kind and time',
  usage: "An account's events, deliveries, attempts and bytes by month",
  migrations: 'The indexes that `hookline migrate` has made',
};

/** The table of `docs/collections.md`: a row for each collection. @throws if one has no meaning, or is none */
export function collectionsTable(): string {
  const unknown = [...COLLECTIONS.keys()].filter((name) => !(name in MEANINGS));
  const gone = Object.keys(MEANINGS).filter((name) => !COLLECTIONS.has(name));
  if (unknown.length + gone.length > 0)
    throw new Error(`tools/collections.ts lacks ${unknown.join(', ')}; there is no ${gone.join(', ')}`);
  const rows = Object.entries(MEANINGS).map(
    ([name, meaning]) => `| \`${name}\` | ${meaning} | ${indexesOf(name)} |`,
  );
  return ['| Collection | A document is | Indexes besides `_id` |', '|---|---|---|', ...rows].join('\n');
}

function indexesOf(name: string): string {
  const texts = (COLLECTIONS.get(name)?.indexes() ?? []).map(
    ([key, { unique, expireAfterSeconds: seconds }]) => {
      const how = [unique && 'unique', seconds !== undefined && 'expires'].filter(Boolean).join(', ');
      return `\`${Object.keys(key).join(', ')}\`${how === '' ? '' : ` (${how})`}`;
    },
  );
  return texts.join('; ');
}
