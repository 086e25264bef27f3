import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { DELIVERY_ID_PATTERN } from '../../../domain/basics/delivery-id.js';
import { idPattern } from '../../../domain/basics/ids.js';
import { PAYLOAD_FORMS } from '../../../domain/records/payload-line.js';
import { sharedDate } from '../../../domain/time/shared-time.js';
import { requireScope } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { invalidRequest } from '../../http/validation.js';
import { changeSchema } from '../changes/change-view.js';
import { deliverySchema } from '../deliveries/delivery-view.js';
import { timeParameter } from '../deliveries/filters.js';
import { eventSummarySchema } from '../events/event-view.js';
import { exportLines, placeOfCursor } from './export-lines.js';

const after = z.string().describe('Value of after that continues an export behind this line');
const record = z
  .record(z.string(), z.unknown())
  .describe('The canonical record, of which the log has a leaf; of a change from the next checkpoint on')
  .meta({ id: 'LoggedRecord' });

const lineSchema = z
  .union([
    eventSummarySchema
      .extend({
        type: z.literal('event'),
        after,
        payload_bytes: z.int(),
        payload: z
          .unknown()
          .describe(
            'As it was received, if payload_text is absent; with payload=text a string of what was received; null once it is no longer kept, and if it was erased',
          ),
        payload_text: z
          .string()
          .optional()
          .describe(
            'The payload as it was received, if it has line breaks or half of a surrogate pair: payload is then an equal value on one line',
          ),
      })
      .meta({ id: 'ExportedEvent' }),
    z
      .object({ type: z.literal('delivery'), after, delivery: deliverySchema, record })
      .meta({ id: 'ExportedDelivery' }),
    z
      .object({ type: z.literal('altered'), after, id: z.string(), detail: z.string() })
      .describe('In the place of an event, delivery or change that was altered in the database')
      .meta({ id: 'AlteredRecord' }),
    z
      .object({ type: z.literal('change'), after, change: changeSchema, record })
      .meta({ id: 'ExportedChange' }),
  ])
  .meta({ id: 'ExportLine' });

const LINES = 'application/x-ndjson';
const CURSORS = [idPattern('event'), DELIVERY_ID_PATTERN, idPattern('change')];
const isCursor = (text: string) => CURSORS.some((pattern) => pattern.test(text));

async function* nothing() {}

/** Exports: what is kept of an account, as a stream. */
export function exportOperations({ database: { records, changes } }: ApiDependencies): Operation[] {
  return [
    operation('get', '/exports', 'exportRecords', {
      summary: 'Stream the events of a period with their deliveries, as JSON lines',
      scope: 'deliveries:read',
      closedToPortal: true,
      query: z.strictObject({
        from: timeParameter.describe('Time of acceptance or change; inclusive'),
        to: timeParameter.describe('Exclusive; default: now'),
        after: z
          .string()
          .refine(isCursor, 'must be the after of a line of an export')
          .optional()
          .describe('Goes on behind the line that ends with it'),
        include: z
          .literal('changes')
          .optional()
          .describe('changes: includes changes; needs the scope changes:read as well'),
        format: z.literal('ndjson').default('ndjson'),
        payload: z
          .enum(PAYLOAD_FORMS)
          .default('json')
          .describe(
            'text: payloads are strings of the original, for readers that do not support every number or every depth of JSON',
          ),
      }),
      headers: { 'Accept-Encoding': 'gzip: the response is compressed' },
      responses: {
        200: {
          description:
            'Each line is an event, a delivery of the event before, or a change. What is open is not in it. A stream that ends early is continued with `after`',
          lines: lineSchema,
          text: 'The same lines',
        },
      },
      problems: ['record_altered'],
      async handle({ account_id, query: { from, to = sharedDate(), after, include, payload } }, ctx) {
        if (include) requireScope(ctx, 'changes:read');
        if (!from) throw invalidRequest([{ parameter: 'from', detail: 'is missing' }]);
        if (to <= from) throw invalidRequest([{ parameter: 'to', detail: 'must be later than from' }]);
        const place = after && placeOfCursor(after);
        const period = { from, to };
        const exported = {
          events: records.export(account_id, period, place && `evt_${place}`),
          changes: include ? changes.read(account_id, period, place && `chg_${place}`) : nothing(),
        };
        const lines = Readable.from(exportLines(account_id, exported, after, payload));
        // A failed read can still be reported: no successful response has begun.
        await once(lines, 'readable');
        ctx.type = ctx.accepts(LINES, 'text/plain') || LINES;
        ctx.vary('Accept-Encoding');
        if (ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') return lines;
        ctx.set('content-encoding', 'gzip');
        const gzip = createGzip();
        lines.once('error', (error) => gzip.destroy(error));
        gzip.once('close', () => lines.destroy());
        return lines.pipe(gzip);
      },
    }),
  ];
}
