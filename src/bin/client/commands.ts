import type { Command } from '../command.js';
import { AUDIT_COMMANDS } from './audit/commands.js';
import { JSON_HELP, json, text } from './options.js';

const FILTER = { endpoint: text, event: text, kind: text, key: text, status: text };
const FILTER_HELP = [
  '--endpoint ep_…, --event evt_…, --kind purchase, --key order_id:1001, --status retrying,parked',
];

/** What users of the API can do: with HOOKLINE_URL and a key or a login, on any machine. */
export const CLIENT_COMMANDS = {
  login: {
    summary: 'log in at a server with a browser, instead of setting HOOKLINE_API_KEY',
    usage: '[--url URL] [--client client_…]',
    help: [
      '--url URL               the server; otherwise HOOKLINE_URL, the last one, or http://127.0.0.1:8080',
      '--client client_…       the OAuth client of your account; otherwise HOOKLINE_OAUTH_CLIENT, or the last one',
      '--scope "a b"           what the login may do; by default what these commands need',
      '--no-browser            only prints the address to open',
    ],
    options: { url: text, client: text, scope: text, 'no-browser': { type: 'boolean' } },
    async run(values) {
      const { login } = await import('./login/login.js');
      await login(values);
    },
  },
  logout: {
    summary: 'end that login, here and at the server',
    help: [],
    options: {},
    async run() {
      const { logout } = await import('./login/login.js');
      await logout();
    },
  },
  listen: {
    summary: 'bring deliveries to a receiver on this machine, without a public address',
    usage: '[--forward URL] [--kinds purchase,order.*]',
    help: [
      '--forward URL           where your receiver is; without it, deliveries are shown and accepted',
      '--kinds a,b             event kinds; by default all of them',
      JSON_HELP,
    ],
    options: { forward: text, kinds: text, json },
    async run(values) {
      const { listen } = await import('./listen/listen.js');
      await listen(values);
    },
  },
  trigger: {
    summary: 'post an event of a kind, by default its example',
    usage: '<kind> [--set total=5] [--wait]',
    help: [
      '--set name=value        changes the example; items.0.qty=2 further down; may be repeated',
      '--data FILE             another payload: a file, - for standard input, or the JSON itself',
      '--wait                  shows each delivery as it ends; fails if one was not delivered',
      '--idempotency-key KEY   a repeat with the same key starts nothing twice',
      JSON_HELP,
    ],
    options: {
      set: { type: 'string', multiple: true },
      data: text,
      wait: { type: 'boolean' },
      'idempotency-key': text,
      json,
    },
    async run(values, positionals) {
      const { trigger } = await import('./trigger/trigger.js');
      await trigger(values, positionals);
    },
  },
  deliveries: {
    summary: 'list deliveries, show one with its attempts, or act on one',
    usage: '[list | dlv_… | retry|cancel|pause|resume|resend dlv_…]',
    help: [
      ...FILTER_HELP,
      '--limit 25              how many of them',
      '--reason TEXT           why you act; it is recorded',
      JSON_HELP,
    ],
    actions: ['list', 'retry', 'cancel', 'pause', 'resume', 'resend'],
    options: { ...FILTER, limit: text, reason: text, json },
    async run(values, positionals) {
      const { deliveries } = await import('./deliveries.js');
      await deliveries(values, positionals);
    },
  },
  timeline: {
    summary: 'show everything that happened to a delivery',
    usage: 'dlv_…',
    help: [JSON_HELP],
    options: { json },
    async run(values, positionals) {
      const { timeline } = await import('./answers.js');
      await timeline(values, positionals);
    },
  },
  explain: {
    summary: 'say why an endpoint got an event, or did not',
    usage: 'ep_… <evt_… or order_id:1001>',
    help: ['--kind purchase         of events with the same key, those of this kind', JSON_HELP],
    options: { kind: text, json },
    async run(values, positionals) {
      const { explain } = await import('./answers.js');
      await explain(values, positionals);
    },
  },
  ...AUDIT_COMMANDS,
  export: {
    summary: 'write the archived events of a period with their deliveries, a JSON text on each line',
    usage: '--from 2026-01-01 [--to 2026-02-01]',
    help: [
      '--from TIME             events accepted at that time or later: a date, a time with zone, or 30d for 30 days ago',
      '--to TIME               events accepted before; by default now',
      '--changes               also who changed what; needs the scope changes:read',
      '--format ndjson         the only one so far',
      '--gzip                  compresses what is written',
      '--after CURSOR          goes on behind the line that has it as "after"',
    ],
    options: {
      from: text,
      to: text,
      changes: { type: 'boolean' },
      format: text,
      gzip: { type: 'boolean' },
      after: text,
    },
    async run(values) {
      const { exportArchive } = await import('./export.js');
      await exportArchive(values);
    },
  },
  whoami: {
    summary: 'say whom the key or login stands for, and what it may do',
    help: [JSON_HELP],
    options: { json },
    async run(values) {
      const { whoami } = await import('./access.js');
      await whoami(values);
    },
  },
  events: {
    summary: 'list events, or show one with its payload and deliveries',
    usage: '[list | evt_…]',
    help: ['--kind purchase, --key order_id:1001', '--limit 25              how many of them', JSON_HELP],
    actions: ['list', 'show'],
    options: { kind: text, key: text, limit: text, json },
    async run(values, positionals) {
      const { events } = await import('./events.js');
      await events(values, positionals);
    },
  },
  kinds: {
    summary: 'list event kinds, or show one with its schema',
    usage: '[list | show purchase]',
    help: [JSON_HELP],
    actions: ['list', 'show'],
    options: { json },
    async run(values, positionals) {
      const { kinds } = await import('./events.js');
      await kinds(values, positionals);
    },
  },
  accounts: {
    summary: 'list the accounts of a platform, show one, or make one',
    usage: '[list | show acct_… | create NAME]',
    help: ['--reference TEXT        your own name for the account', JSON_HELP],
    actions: ['list', 'show', 'create'],
    options: { reference: text, json },
    async run(values, positionals) {
      const { accounts } = await import('./access.js');
      await accounts(values, positionals);
    },
  },
  keys: {
    summary: 'list API keys, make one, or revoke one',
    usage: '[list | create NAME --scopes "events:write" | revoke key_…]',
    help: [
      '--scopes "a b"          what it may do',
      '--expires TIME          when it stops working, ISO 8601',
      JSON_HELP,
    ],
    actions: ['list', 'create', 'revoke'],
    options: { scopes: text, expires: text, json },
    async run(values, positionals) {
      const { keys } = await import('./access.js');
      await keys(values, positionals);
    },
  },
  endpoints: {
    summary: 'list endpoints, show one, register one, or change one',
    usage: '[list | create URL --kinds purchase | show|pause|resume|rotate|test|verify|delete ep_…]',
    help: [
      '--kinds a,b             of a new one: the event kinds that it gets',
      '--description TEXT      of a new one',
      '--reason TEXT           why you pause it; its subscriber can read that',
      '--overlap 24h           how long the secret before a rotation signs too',
      JSON_HELP,
    ],
    actions: ['list', 'create', 'show', 'pause', 'resume', 'rotate', 'test', 'verify', 'delete'],
    options: { kinds: text, description: text, reason: text, overlap: text, json },
    async run(values, positionals) {
      const { endpoints } = await import('./endpoints.js');
      await endpoints(values, positionals);
    },
  },
  replay: {
    summary: 'send many deliveries again, and show how far it is',
    usage: '[rpl_…] [--endpoint ep_…] [--since 2h] [--dry-run]',
    help: [
      ...FILTER_HELP,
      '--since 2h, --until 1h  when the events were accepted: a time before now, or an ISO 8601 time',
      '--mode failed           failed, missed or all (docs/replays.md)',
      '--action resend         resend, retry, cancel or resume',
      '--rate 20               deliveries per second, at most',
      '--reason TEXT           why; it is recorded',
      '--dry-run               only count them',
      '--detach                start it and do not wait',
      JSON_HELP,
    ],
    options: {
      ...FILTER,
      since: text,
      until: text,
      mode: text,
      action: text,
      rate: text,
      reason: text,
      'dry-run': { type: 'boolean' },
      detach: { type: 'boolean' },
      json,
    },
    async run(values, positionals) {
      const { replay } = await import('./replay.js');
      await replay(values, positionals);
    },
  },
  profiles: {
    summary: 'keep keys of several servers under names, and choose which one commands use',
    usage: '[list | save|use|remove NAME]',
    help: [
      'save NAME               keeps HOOKLINE_URL, HOOKLINE_API_KEY and HOOKLINE_ACCOUNT as they are set now',
      'use NAME                what commands use from now on; HOOKLINE_PROFILE=NAME chooses for one command',
      JSON_HELP,
    ],
    actions: ['list', 'save', 'use', 'remove'],
    options: { json },
    async run(values, positionals) {
      const { profiles } = await import('./profiles.js');
      await profiles(values, positionals);
    },
  },
  mcp: {
    summary:
      'let an AI model look into deliveries: a server of the Model Context Protocol on standard input and output',
    usage: '[--write]',
    help: ['--write                 it may also retry, resend and replay; by default it can only read'],
    options: { write: { type: 'boolean' } },
    async run(values) {
      const { mcp } = await import('./mcp/mcp.js');
      await mcp(values);
    },
  },
} as const satisfies Record<string, Command>;
