import { z } from 'zod';
import type { Hookline, QueryOf } from '../../../../clients/typescript/src/index.js';
import { MAX_REASON_LENGTH } from '../../../domain/change/change.js';
import { SHOWN_STATUSES } from '../../../domain/delivery/delivery.js';
import { keysMeant, keysOfKinds, oneKeyMeant } from './keys.js';

/** One thing that a model may ask for. */
export interface Tool<Input = never> {
  /** Purpose of the tool, and when to use it, for the model that chooses. */
  description: string;
  input: z.ZodType<Input>;
  /** true if it changes something. */
  writes?: true;
  /** Further fields of its results that others have written (`outside.ts`). */
  ofOthers?: readonly string[];
  run(hookline: Hookline, input: Input): Promise<unknown>;
}

/** Rows of one response: a model reads all of them. */
const MAX_ROWS = 50;

const limit = z.int().min(1).max(MAX_ROWS).default(10).describe('How many at most, newest first');
const since = z.iso.datetime({ offset: true }).optional().describe('Accepted at this time or later');
const until = z.iso.datetime({ offset: true }).optional().describe('Accepted before this time');
const kind = z.string().optional().describe('Event kind, such as purchase');
const key = z
  .string()
  .optional()
  .describe('Business key of the event: order_id:1001, or 1001 alone, which is looked for under all names');
const endpointId = z.string().startsWith('ep_');
const eventId = z.string().startsWith('evt_');
const deliveryId = z.string().startsWith('dlv_');
const reason = z.string().min(1).max(MAX_REASON_LENGTH).describe('Why; it is recorded with the change');

const deliveryFilter = z.object({
  endpoint_id: endpointId.optional(),
  event_id: eventId.optional(),
  event_kind: kind,
  key,
  status: z.array(z.enum(SHOWN_STATUSES)).optional(),
  created_after: since,
  created_before: until,
});

const replaySelection = z.object({
  filter: deliveryFilter,
  mode: z
    .enum(['failed', 'missed', 'all'])
    .default('failed')
    .describe(
      'failed: closed without success. missed: that, and what the endpoint never had; needs endpoint_id and created_after',
    ),
});

const explained = z.object({
  endpoint_id: endpointId,
  event_id: eventId.optional(),
  key,
  event_kind: kind,
});

/** All tools by their names; those that change something are offered on request only. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  explain: tool({
    description:
      'Why did an endpoint receive an event or not? Gives a verdict: a stable code, a sentence, since when and by whom. Name the event by id or by business key.',
    input: explained,
    run: explain,
  }),
  find_deliveries: tool({
    description:
      'List deliveries, newest first, by endpoint, event, kind, business key, status or time, each with its status and the reason for it.',
    input: deliveryFilter.extend({
      any_attempt_status_code: z.int().optional().describe('An attempt got a response with this HTTP status'),
      any_attempt_error_code: z
        .string()
        .optional()
        .describe('An attempt failed with this code, such as timeout'),
      limit,
    }),
    run: (hookline, given) =>
      found(hookline, given, given.event_kind, (query) =>
        hookline.get('/v18.0/deliveries', { params: { query: query as QueryOf<'/v18.0/deliveries'> } }),
      ),
  }),
  get_delivery: tool({
    description:
      'One delivery with its attempts: address, duration, HTTP status or error, start of the response.',
    input: z.object({ id: deliveryId }),
    run: (hookline, path) => hookline.get('/v18.0/deliveries/{id}', { params: { path } }),
  }),
  get_timeline: tool({
    description:
      'Everything that happened to one delivery, in order, in sentences: waits, pauses, acts of people.',
    input: z.object({ id: deliveryId }),
    run: (hookline, path) => hookline.get('/v18.0/deliveries/{id}/timeline', { params: { path } }),
  }),
  find_events: tool({
    description:
      'List accepted events, newest first, by kind, business key or time. Payloads are not included.',
    input: z.object({ kind, key, created_after: since, created_before: until, limit }),
    run: (hookline, given) =>
      found(hookline, given, given.kind, (query) => hookline.get('/v18.0/events', { params: { query } })),
  }),
  get_event: tool({
    description:
      'One event with its deliveries. The payload is left out, because it can have personal data in it.',
    input: z.object({ id: eventId }),
    async run(hookline, { id }) {
      const event = await hookline.get('/v18.0/events/{kind_or_id}', {
        params: { path: { kind_or_id: id } },
      });
      return event;
    },
  }),
  list_event_kinds: tool({
    description: 'The kinds of events, and the names of the business keys that events can be found by.',
    input: z.object({}),
    run: (hookline) => keysOfKinds(hookline),
  }),
  list_endpoints: tool({
    description: 'List endpoints with their state and health, for example those that are failing.',
    input: z.object({ health: z.enum(['healthy', 'failing']).optional(), limit }),
    run: async (hookline, query) => page(await hookline.get('/v18.0/endpoints', { params: { query } })),
  }),
  get_endpoint: tool({
    description: 'One endpoint: URL, event kinds, filter, retry schedule, verification, open incident.',
    input: z.object({ id: endpointId }),
    run: (hookline, path) => hookline.get('/v18.0/endpoints/{id}', { params: { path } }),
  }),
  list_missed: tool({
    description: 'List events that an endpoint did not get in a period, each with the reason.',
    input: z.object({
      id: endpointId,
      created_after: z.iso.datetime({ offset: true }).describe('Begin of the period'),
      created_before: until,
      limit,
    }),
    run: async (hookline, { id, ...query }) =>
      page(await hookline.get('/v18.0/endpoints/{id}/missed', { params: { path: { id }, query } })),
  }),
  get_stats: tool({
    description:
      'Counts of closed deliveries and attempts, and what is open: of the account, an endpoint or a kind.',
    input: z.object({ endpoint_id: endpointId.optional(), event_kind: kind }),
    run: (hookline, query) => hookline.get('/v18.0/stats', { params: { query } }),
  }),
  list_changes: tool({
    description: 'List changes with author and origin, newest first; of one resource if its id is given.',
    input: z.object({
      resource: z.string().optional().describe('Id of an endpoint, delivery, key …'),
      limit,
    }),
    ofOthers: ['reason'],
    run: async (hookline, query) => page(await hookline.get('/v18.0/changes', { params: { query } })),
  }),
  preview_replay: tool({
    description: 'Count what a replay would send again, with examples. Sends nothing.',
    input: replaySelection,
    run: (hookline, selection) => postReplay(hookline, { ...selection, dry_run: true }),
  }),
  retry_delivery: tool({
    description: 'Make an attempt of an open delivery at once.',
    input: z.object({ id: deliveryId, reason }),
    writes: true,
    run: (hookline, { id, reason }) =>
      hookline.post('/v18.0/deliveries/{id}/retry', { params: { path: { id } }, body: { reason } }),
  }),
  resend_delivery: tool({
    description: 'Send a closed delivery again.',
    input: z.object({ id: deliveryId, reason }),
    writes: true,
    run: (hookline, { id, reason }) =>
      hookline.post('/v18.0/deliveries/{id}/resend', { params: { path: { id } }, body: { reason } }),
  }),
  start_replay: tool({
    description:
      'Send many deliveries again. Preview it first, and tell the person the count before you start it.',
    input: replaySelection.extend({ reason }),
    writes: true,
    run: (hookline, selection) => postReplay(hookline, selection),
  }),
};

/** Lets each tool have an input of its own in one list: what reaches `run` has passed `input`. */
function tool<Input>(one: Tool<Input>): Tool {
  return one as Tool<unknown> as Tool;
}

/** The server checks the values of the filter. */
async function postReplay(
  hookline: Hookline,
  { filter, ...more }: z.output<typeof replaySelection> & { dry_run?: boolean },
): Promise<unknown> {
  const key = filter.key && (await oneKeyMeant(hookline, filter.key, filter.event_kind));
  return hookline.post('/v18.0/replays', { body: { filter: { ...filter, key }, ...more } });
}

/** The rows of a list under each key that is meant, newest first. */
async function found<Given extends { key?: string | undefined; limit: number }>(
  hookline: Hookline,
  given: Given,
  kind: string | undefined,
  read: (query: Given) => Promise<Parameters<typeof page<{ id: string }>>[0]>,
) {
  if (given.key === undefined) return page(await read(given));
  const keys = await keysMeant(hookline, given.key, kind);
  const pages = await Promise.all(keys.map(async (one) => page(await read({ ...given, key: one }))));
  const data = pages.flatMap((one) => one.data).sort((a, b) => (a.id < b.id ? 1 : -1));
  return {
    data: data.slice(0, given.limit),
    has_more: data.length > given.limit || pages.some(({ has_more }) => has_more),
  };
}

/** A verdict; about the newest event, if a key alone names several. */
async function explain(hookline: Hookline, given: z.output<typeof explained>): Promise<unknown> {
  const { key: text, ...query } = given;
  const ask = (key?: string) => hookline.get('/v18.0/explain', { params: { query: { ...query, key } } });
  if (text === undefined) return ask();
  const keys = await keysMeant(hookline, text, given.event_kind);
  const verdicts = await Promise.all(keys.map(async (key) => ({ key, ...(await ask(key)) })));
  const known = verdicts.filter(({ event }) => event !== undefined);
  return known.sort((a, b) => ((a.event?.id ?? '') < (b.event?.id ?? '') ? 1 : -1))[0] ?? verdicts[0];
}

/** Rows, and whether there are more, without the addresses of pages. */
function page<Row>({ data, paging }: { data: Row[]; paging: { next?: string | undefined } }) {
  return { data, has_more: paging.next !== undefined };
}
