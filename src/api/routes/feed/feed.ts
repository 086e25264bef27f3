import { z } from 'zod';
import { UNITS } from '../../../domain/basics/duration.js';
import { idTime } from '../../../domain/basics/id-time.js';
import { POSITION, positionsFrom } from '../../../domain/feed/feed.js';
import { notFound, Problem } from '../../../domain/http/problem.js';
import { PLACE_KEPT_DAYS } from '../../../domain/order/delivery-order.js';
import { type OrderPlace, orderHeader } from '../../../domain/order/order-rule.js';
import { PAYLOAD_FORMS } from '../../../domain/records/payload-line.js';
import { MAX_CONSUMERS } from '../../../models/feed/feed-consumers.js';
import type { FeedPage } from '../../../models/feed/feed-reader.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation, pathTo } from '../../http/operation.js';
import { pageOf } from '../../http/schemas.js';
import { invalidRequest } from '../../http/validation.js';
import { timeParameter } from '../deliveries/filters.js';
import { findEndpoint } from '../endpoints/endpoints.js';
import { kindNames } from '../event-kinds/find-kind.js';
import { consumerSchema, feedEntrySchema, renderConsumer, renderEntry } from './feed-view.js';
import { placeParameters, placeWanted } from './place-wanted.js';
import { MAX_WAIT_S, Waits } from './waits.js';
import { EVERYTHING, wantedBy } from './wanted.js';

const CONSUMER = /^[A-Za-z0-9][\w.-]{0,63}$/;
const position = z.string().regex(POSITION, 'must be a position that the feed gave');
const sequence = z.coerce.number().int().min(1);

/** Where to go on reading, other than behind a position. */
const seek = {
  from: timeParameter.describe('Events that were accepted at this time or later'),
  sequence: sequence.optional().describe('The event with this number of the account, and those behind it'),
};

const MOST_CONSUMERS = `An account has at most ${MAX_CONSUMERS} consumers.`;

/** The feed: events in one order, which their readers ask for. */
export function feedOperations(dependencies: ApiDependencies): Operation[] {
  const { database, feed, starter, stopping } = dependencies;
  const waits = new Waits();

  /** The position behind which an event begins that is looked for. @throws Problem 404 if there is none */
  const sought = async (
    accountId: string,
    { from, sequence }: { from?: Date | undefined; sequence?: number | undefined },
  ) => {
    if (sequence !== undefined) {
      const id = await database.records.eventNumbered(accountId, sequence);
      if (id === undefined) throw notFound('event with the sequence', String(sequence));
      return feed.beforeEvent(id);
    }
    return from && positionsFrom(from.getTime());
  };

  /** The event whose delivery has a place. @throws Problem 404 if none has it, or it is not kept any more */
  const eventAt = async (place: OrderPlace): Promise<string> => {
    const id = await database.orderPlaces.eventAt(place);
    if (id !== undefined) return id;
    throw new Problem(
      'not_found',
      `No delivery to the endpoint has the header webhook-order: ${orderHeader(place)}. Numbers are kept for ${PLACE_KEPT_DAYS} days.`,
    );
  };

  /** @throws Problem 410 for a position of a time of which events may have been removed */
  const requireKept = async (accountId: string, after: string): Promise<void> => {
    if (after === '' || idTime(after) >= database.events.keptFrom(accountId, undefined)) return;
    const kept = database.events.keptFrom(accountId, await kindNames(database, accountId));
    if (idTime(after) >= kept) return;
    throw new Problem(
      'feed_position_gone',
      `Events from before ${new Date(kept).toISOString()} may have been removed. Go on with after=${positionsFrom(kept + UNITS.h)}, or without a position.`,
    );
  };

  const requireName = (name: string): string => {
    if (CONSUMER.test(name)) return name;
    const detail =
      'must be 1 to 64 letters, digits, dots, underscores and hyphens, and begin with a letter or digit';
    throw invalidRequest([{ parameter: 'name', detail }]);
  };

  return [
    operation('get', '/feed', 'readFeed', {
      summary: 'Read events in the order of one cursor, which passes over none; wait for the next ones',
      scope: 'deliveries:read',
      closedToPortal: true,
      query: z.strictObject({
        after: position
          .optional()
          .describe('Events behind this position; it counts before what else says where'),
        consumer: z
          .string()
          .regex(CONSUMER)
          .optional()
          .describe('Events behind the position of this consumer'),
        ...seek,
        ...placeParameters,
        endpoint: z
          .string()
          .optional()
          .describe('Only events that this endpoint is registered for now, by kind and filter'),
        limit: z.coerce.number().int().min(1).max(100).default(25),
        wait: z.coerce
          .number()
          .int()
          .min(0)
          .max(MAX_WAIT_S)
          .default(0)
          .describe('Seconds that the response waits for an event if there is none'),
        payload: z
          .enum(PAYLOAD_FORMS)
          .default('json')
          .describe('text: payloads are strings of what was received'),
      }),
      responses: {
        200: {
          description:
            'Events, the earliest first. `cursors.after` is always there: what is read next begins behind it. With `next` there is more already',
          schema: pageOf(feedEntrySchema),
        },
      },
      problems: ['feed_position_gone', 'feed_wait_limit_reached', 'not_found'],
      async handle({ account_id, query }, ctx) {
        const { after, consumer, endpoint: id, limit, wait, payload } = query;
        const place = placeWanted(query);
        const endpoint = id === undefined ? undefined : await findEndpoint(dependencies, ctx, id);
        const first = place && (await eventAt(place));
        const begin =
          after ??
          (consumer && (await database.feedConsumers.get(account_id, consumer))?.position) ??
          (first && (await feed.beforeEvent(first))) ??
          (await sought(account_id, query)) ??
          '';
        if (query.from === undefined) await requireKept(account_id, begin);
        const wanted = endpoint ? wantedBy(endpoint, first) : EVERYTHING;
        let page: FeedPage = { entries: [], after: begin, isEnd: false };
        await waits.until(ctx, account_id, wait * 1_000, stopping, async () => {
          await starter.feedOrder.refresh();
          page = await feed.page(account_id, page.after, limit, wanted);
          return page.entries.length > 0 || !page.isEnd;
        });
        const next = new URLSearchParams(ctx.querystring);
        for (const name of ['access_token', 'from', 'sequence', 'consumer', 'order', 'order_key'])
          next.delete(name);
        next.set('after', page.after);
        const paging = {
          cursors: { after: page.after },
          ...(!page.isEnd && { next: `${pathTo(ctx, '/feed')}?${next}` }),
        };
        ctx.type = 'application/json';
        const entries = page.entries.map((entry) => renderEntry(entry, payload));
        return `{"data":[${entries.join(',')}],"paging":${JSON.stringify(paging)}}`;
      },
    }),

    operation('get', '/feed/consumers', 'listFeedConsumers', {
      summary: 'List the consumers of the account by name, all of them on one page',
      scope: 'deliveries:read',
      closedToPortal: true,
      responses: { 200: { description: MOST_CONSUMERS, schema: pageOf(consumerSchema) } },
      async handle({ account_id }) {
        const data = (await database.feedConsumers.list(account_id)).map(renderConsumer);
        return { data, paging: { cursors: {} } };
      },
    }),

    operation('get', '/feed/consumers/:name', 'getFeedConsumer', {
      summary: 'Read the position of a consumer',
      scope: 'deliveries:read',
      closedToPortal: true,
      responses: { 200: { description: 'The consumer', schema: consumerSchema } },
      async handle({ account_id, params: { name } }) {
        const found = await database.feedConsumers.get(account_id, name);
        if (!found) throw notFound('feed consumer', name);
        return renderConsumer(found);
      },
    }),

    operation('put', '/feed/consumers/:name', 'putFeedConsumer', {
      summary: 'Keep the position of a consumer, or move it to a time or an event',
      scope: 'deliveries:write',
      closedToPortal: true,
      body: z.strictObject({
        position: position
          .optional()
          .describe('Position of the last event that was processed, or `cursors.after` of a page'),
        ...seek,
      }),
      example: { position: '01M7Y2V07RS2Y47QBBGSV7HTCR' },
      responses: { 200: { description: 'The consumer', schema: consumerSchema } },
      problems: ['feed_consumer_limit_reached'],
      async handle({ account_id, params: { name }, body }) {
        const begin = body.position ?? (await sought(account_id, body)) ?? '';
        const kept = await database.feedConsumers.put(account_id, requireName(name), begin);
        if (kept) return renderConsumer(kept);
        throw new Problem('feed_consumer_limit_reached', `${MOST_CONSUMERS} Delete one that is not used.`);
      },
    }),

    operation('delete', '/feed/consumers/:name', 'deleteFeedConsumer', {
      summary: 'Forget a consumer',
      scope: 'deliveries:write',
      closedToPortal: true,
      responses: { 204: { description: 'Forgotten' } },
      async handle({ account_id, params: { name } }) {
        if (!(await database.feedConsumers.delete(account_id, name))) throw notFound('feed consumer', name);
      },
    }),
  ];
}
