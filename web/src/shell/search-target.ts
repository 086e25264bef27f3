import type { PagePath } from './page-path.js';

/** Where an id leads, by how it begins. */
const PAGES = {
  dlv: 'deliveries/$id',
  evt: 'events/$id',
  ep: 'endpoints/$id',
  rpl: 'replays/$id',
  ers: 'erasures/$id',
} as const;
/** Resources that have no page of their own, but a record of their changes. */
const RESOURCES: Record<string, string> = {
  key: 'api_key',
  client: 'oauth_client',
  prof: 'profile',
  ps: 'portal_session',
  acct: 'account',
};

/** A page that a search leads to. */
export interface Target {
  page: PagePath;
  id?: string;
  search?: Record<string, string>;
}

/**
 * Resource of a workflow's id, as Temporal UI and certificates have it: the delivery of `dlv_…:acct_…`, the event of
 * `group:evt_…:0` or `fanout:acct_…:evt_…`. Any other text as it is.
 */
export function idIn(text: string): string {
  const [, delivery, event] =
    /^(?:(dlv_\w+):acct_\w+|(?:group|fanout):\S*?(evt_[0-9A-Z]{26})\S*)$/.exec(text) ?? [];
  return delivery ?? event ?? text;
}

/** Where an id leads, or a business key with its name; `undefined` if a text is neither. */
export function targetOf(text: string): Target | undefined {
  const [, prefix = ''] = /^([a-z]+)_\w+$/.exec(text) ?? [];
  const page = PAGES[prefix as keyof typeof PAGES];
  if (page) return { page, id: text };
  const kind = RESOURCES[prefix];
  if (kind) return { page: 'changes', search: { resource: `${kind}:${text}` } };
  const isKey = /^[A-Za-z_][\w.-]{0,63}:.+$/.test(text) && !text.startsWith('localhost:');
  if (isKey) return { page: 'deliveries', search: { key: text } };
  return undefined;
}

/** The number of a text as titles have it: `1002` of "order 1002". `undefined` if its last word has no digit. */
export function numberIn(text: string): string | undefined {
  return /\s(\S*\d\S*)$/.exec(text)?.[1];
}
