import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { DELIVERY_ID_PATTERN, idPattern } from '../../../domain/basics/ids.js';
import { invalidRequest } from '../../http/body.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { deliverySchema } from '../deliveries/delivery-view.js';
import { timeParameter } from '../deliveries/filters.js';
import { eventSummarySchema } from '../events/event-view.js';
import { eventOfCursor, exportLines } from './export-lines.js';

const lineSchema = z
  .union([
    eventSummarySchema.extend({
      type: z.literal('event'),
      after: z.string().describe('Where an export goes on that ended with this line'),
      payload_bytes: z.number().int(),
      payload: z
        .unknown()
        .describe('As it was received; null once it is no longer kept, and if it was erased'),
    }),
    z.object({
      type: z.literal('delivery'),
      after: z.string().describe('Where an export goes on that ended with this line'),
      delivery: deliverySchema,
      record: z.record(z.string(), z.unknown()).describe('The canonical record, of which the log has a leaf'),
    }),
  ])
  .meta({ id: 'ExportLine' });

const isCursor = (text: string) => idPattern('event').test(text) || DELIVERY_ID_PATTERN.test(text);

/** Exports: the archive of an account, as a stream. */
export function exportOperations({ database: { archive } }: ApiDependencies): Operation[] {
  return [
    operation({
      method: 'get',
      path: '/exports',
      id: 'exportArchive',
      summary: 'Stream the archived events of a period with their deliveries, a JSON text on each line',
      scope: 'deliveries:read',
      closedToPortal: true,
      query: z.strictObject({
        from: timeParameter.describe('Of acceptance; included'),
        to: timeParameter.describe('Not included; absent: now'),
        after: z
          .string()
          .refine(isCursor, 'must be the after of a line of an export')
          .optional()
          .describe('Goes on behind the line that ends with it'),
        format: z.literal('ndjson').default('ndjson'),
      }),
      headers: { 'Accept-Encoding': 'gzip: the answer is compressed' },
      responses: {
        200: {
          description:
            'Each line is an event, or a delivery of the event before. What is open, or closed a moment ago, is not archived yet and not in it. A stream that ends early is continued with `after`',
          lines: lineSchema,
        },
      },
      problems: [],
      async handle(ctx, { query: { from, to = new Date(), after } }) {
        if (!from) throw invalidRequest([{ parameter: 'from', detail: 'is missing' }]);
        if (to <= from) throw invalidRequest([{ parameter: 'to', detail: 'must be later than from' }]);
        const events = archive.export.read(
          ctx.state.caller.account_id,
          { from, to },
          after && eventOfCursor(after),
        );
        const lines = Readable.from(exportLines(events, after));
        ctx.type = 'application/x-ndjson';
        ctx.vary('Accept-Encoding');
        if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
          ctx.body = lines;
          return;
        }
        ctx.set('content-encoding', 'gzip');
        const gzip = createGzip();
        lines.once('error', (error) => gzip.destroy(error));
        gzip.once('close', () => lines.destroy());
        ctx.body = lines.pipe(gzip);
      },
    }),
  ];
}
