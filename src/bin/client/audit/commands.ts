import { type Command, JSON_HELP, json, text } from '../../command.js';

const PERIOD = { since: text, until: text };

/** Commands of an auditor (docs/tasks/audit.md). */
export const AUDIT_COMMANDS = {
  attempts: {
    summary: 'list attempts by where they went, how long they took or how they ended',
    usage: '[--outside 10.0.0.0/8] [--longer-than 5s] [--status-code 503]',
    help: [
      '--within a,b            they connected to an address in one of these networks',
      '--outside a,b           they connected to an address in none of these networks',
      '--longer-than 5s        they took longer',
      '--error-code timeout    why they had no response; --status-code 503: the status of the response',
      '--endpoint ep_…, --event evt_…, --kind purchase, --key order_id:1001, --status delivered: of these deliveries',
      '--since 2h, --until 1h  when the events were accepted: a time before now, or an ISO 8601 time',
      '--limit 25              how many of them',
      JSON_HELP,
    ],
    options: {
      within: text,
      outside: text,
      'longer-than': text,
      'error-code': text,
      'status-code': text,
      endpoint: text,
      event: text,
      kind: text,
      key: text,
      status: text,
      ...PERIOD,
      limit: text,
      json,
    },
    run: async (values) => (await import('./questions.js')).attempts(values),
  },
  missed: {
    summary: 'list what an endpoint did not get of a period, and why',
    usage: 'ep_… --since 2d [--until 1d]',
    help: [
      '--since 2d, --until 1d  when the events were accepted: a time before now, or an ISO 8601 time',
      '--code a,b              only these verdicts (docs/answers.md)',
      '--kind purchase         only events of this kind',
      '--limit 100             how many of them; by default all',
      JSON_HELP,
    ],
    options: { ...PERIOD, code: text, kind: text, limit: text, json },
    run: async (values, positionals) => (await import('./questions.js')).missed(values, positionals),
  },
  changes: {
    summary: 'list who changed what, from where and because of what',
    usage: '[--endpoint ep_…] [--action disabled]',
    help: [
      '--endpoint ep_…         of this endpoint; --resource kind:id of anything',
      '--action disabled       what was done (docs/changes.md)',
      '--actor key_…           who did it',
      '--since 2h, --until 1h  when: a time before now, or an ISO 8601 time',
      '--limit 25              how many of them',
      JSON_HELP,
    ],
    options: { endpoint: text, resource: text, action: text, actor: text, ...PERIOD, limit: text, json },
    run: async (values) => (await import('./questions.js')).changes(values),
  },
  integrity: {
    summary: 'say whether a delivery, an event or a change has been altered since it was recorded',
    usage: 'dlv_…, evt_… or chg_…',
    help: ['It ends with 1 if it was altered.', JSON_HELP],
    options: { json },
    run: async (values, positionals) => (await import('./questions.js')).integrity(values, positionals),
  },
} as const satisfies Record<string, Command>;
