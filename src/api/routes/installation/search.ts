import { z } from 'zod';
import { MAX_KEY_NAME_LENGTH } from '../../../../packages/payload-contract/src/schema/schema-keywords.js';
import { parseDeliveryId } from '../../../domain/basics/delivery-id.js';
import { UNITS } from '../../../domain/basics/duration.js';
import { createdAt } from '../../../domain/basics/id-time.js';
import { type IdKind, idPattern, isId } from '../../../domain/basics/ids.js';
import {
  type BusinessKey,
  keyNamesIn,
  MAX_KEY_VALUE_LENGTH,
  parseKeyFilter,
} from '../../../domain/event/business-keys.js';
import { EVENT_KINDS } from '../../../domain/event/event-kinds.js';
import { endpointName } from '../../../domain/ledger/summaries.js';
import type { Database } from '../../../models/database.js';
import { ShortCache } from '../../../models/mongo/short-cache.js';
import { requireScope } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { accountOfRowSchema, OPERATORS, withAccounts } from './of-accounts.js';

/** Kinds of what has an id, besides accounts and deliveries. */
const FOUND_BY_ID = [
  'event',
  'endpoint',
  'replay',
  'erasure',
  'api_key',
  'oauth_client',
  'portal_session',
  'profile',
] as const satisfies readonly IdKind[];
const TYPES = ['account', 'delivery', ...FOUND_BY_ID] as const;

/** Match of a search, with its account. */
interface Found {
  type: (typeof TYPES)[number];
  id: string;
  account_id: string;
  /** Its name for people. */
  text?: string;
}

const MOST = {
  /** Rows of each sort in one response, about. */
  found: 25,
  /** Queries for one response: the next one goes on. */
  calls: 10,
  /** Tokens in one query. */
  tokens: 100,
  /** Event kinds whose keys a value alone is looked for under, and names of keys. */
  kinds: 1_000,
  names: 10,
};

const foundSchema = z
  .object({
    type: z.enum(TYPES),
    id: z.string(),
    text: z.string().optional().describe('Name for people: a name, a host, an event kind'),
    account: accountOfRowSchema.describe('Its account, or the account itself'),
  })
  .meta({ id: 'Found' });

const answerSchema = z
  .object({
    data: z.array(foundSchema),
    after: z.string().optional().describe('Send it with the same query to search further accounts'),
  })
  .meta({ id: 'SearchAnswer' });

/** One question for everything that the installation has. */
export function searchOperations(dependencies: ApiDependencies): Operation[] {
  const { database } = dependencies;
  const names = new ShortCache<string[]>(UNITS.m, 1);
  return [
    operation('post', '/installation/search', 'searchInstallation', {
      summary: 'Search all accounts by an id, a business key, the name of an account, or a host',
      ...OPERATORS,
      openToReaders: true,
      body: z.strictObject({
        query: z
          .string()
          .trim()
          .min(1)
          .max(MAX_KEY_VALUE_LENGTH + MAX_KEY_NAME_LENGTH + 1)
          .describe(
            'An id; a business key as name:value, or its value alone; a part of the name of an account, or of a host',
          ),
        after: z.string().regex(idPattern('account'), 'must be the after of an earlier response').optional(),
      }),
      example: { query: 'order_id:1001' },
      responses: {
        200: {
          description:
            'Matches. Each response searches some accounts for a business key and can be empty: only one without after is the last',
          schema: answerSchema,
        },
      },
      async handle({ body: { query, after } }, ctx) {
        requireScope(ctx, 'deliveries:read');
        requireScope(ctx, 'endpoints:read');
        const byId = await findById(database, query);
        if (byId !== undefined) {
          return { data: await withAccounts(database, byId) };
        }
        const keys = keysIn(query, await names.get('', () => keyNames(database)));
        const [named, { found, next }] = await Promise.all([
          after === undefined ? findByName(database, query) : [],
          findByKeys(dependencies, keys, after),
        ]);
        return {
          data: await withAccounts(database, [...named, ...found]),
          ...(next !== undefined && { after: next }),
        };
      },
    }),
  ];
}

/** The resource that has an id; `undefined` if the text is none. */
async function findById({ accounts, holders }: Database, text: string): Promise<Found[] | undefined> {
  if (isId('account', text)) {
    const account = await accounts.get(text);
    return account ? [{ type: 'account', id: text, account_id: text, text: account.name }] : [];
  }
  const delivery = parseDeliveryId(text);
  if (delivery) {
    const account_id =
      (await holders.accountOf('endpoint', delivery.endpoint_id)) ??
      (await holders.accountOf('event', delivery.event_id));
    return account_id === undefined ? [] : [{ type: 'delivery', id: text, account_id }];
  }
  const kind = FOUND_BY_ID.find((one) => isId(one, text));
  if (!kind) return undefined;
  const account_id = await holders.accountOf(kind, text);
  return account_id === undefined ? [] : [{ type: kind, id: text, account_id }];
}

/** Accounts by name or reference, and endpoints by host. */
async function findByName({ accounts, everyEndpoint }: Database, text: string): Promise<Found[]> {
  const isHost = /^[\w.:[\]-]{2,253}$/.test(text);
  const [named, at] = await Promise.all([
    accounts.matching(text, MOST.found),
    isHost ? everyEndpoint.list({ host: text }, MOST.found) : [],
  ]);
  return [
    ...named.map(({ id, name }): Found => ({ type: 'account', id, account_id: id, text: name })),
    ...at.map(
      (endpoint): Found => ({
        ...{ type: 'endpoint', id: endpoint.id, account_id: endpoint.account_id },
        text: endpointName(endpoint),
      }),
    ),
  ];
}

/** The keys that a text may stand for: as `name:value`, or under each name that schemas mark. */
function keysIn(text: string, names: readonly string[]): BusinessKey[] {
  const named = parseKeyFilter(text);
  const alone = names.flatMap((name) => parseKeyFilter(`${name}:${text}`) ?? []);
  return named ? [named] : alone;
}

/** The names of business keys that built-in kinds mark, and those of accounts. */
async function keyNames({ eventKinds }: Database): Promise<string[]> {
  const schemas = [
    ...EVENT_KINDS.map(({ schema }) => schema),
    ...(await eventKinds.newestSchemas(MOST.kinds)),
  ];
  return [...new Set(schemas.flatMap(keyNamesIn))].slice(0, MOST.names);
}

/**
 * Events with one of some business keys. Each account has tokens of its own, so accounts are asked about some at once,
 * in the order of their ids.
 *
 * @param after the account behind which the search goes on
 */
async function findByKeys(
  { database }: ApiDependencies,
  keys: readonly BusinessKey[],
  after: string | undefined,
): Promise<{ found: Found[]; next?: string }> {
  const found: Found[] = [];
  if (keys.length === 0) return { found };
  const accountsAtOnce = Math.floor(MOST.tokens / keys.length);
  let last = after;
  for (let call = 0; call < MOST.calls && found.length < MOST.found; call += 1) {
    const some = await database.keySecrets.accounts(accountsAtOnce, last);
    const accountOf = new Map<string, string>();
    for (const id of some)
      for (const token of await database.keySecrets.tokensOf(id, keys)) accountOf.set(token, id);
    for (const { event_id, account_id, event_kind } of await database.records.eventsWith(
      accountOf,
      MOST.found,
    ))
      found.push({ type: 'event', id: event_id, account_id, text: `${event_kind} ${createdAt(event_id)}` });
    if (some.length < accountsAtOnce) return { found };
    last = some.at(-1);
  }
  return { found, ...(last !== undefined && { next: last }) };
}
