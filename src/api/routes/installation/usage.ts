import { Readable } from 'node:stream';
import { z } from 'zod';
import { monthAndHour } from '../../../domain/stats/usage.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import type { MonthlyUsage } from '../../../models/stats/usage.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { pagingParameters, renderPage } from '../../http/paging.js';
import { pageOf, timeSchema } from '../../http/schemas.js';
import { accountOfRowSchema, OPERATORS, withAccounts } from './of-accounts.js';

const count = z.int().min(0);
const COLUMNS = ['month', 'account_id', 'account_name', 'events', 'bytes', 'deliveries', 'attempts'] as const;
/** Accounts that are read together for CSV. */
const AT_ONCE = 100;

const usageSchema = z
  .object({
    account: accountOfRowSchema,
    month: z.string(),
    events: count.describe('Events that were accepted'),
    bytes: count.describe('Bytes of their payloads, as they were received'),
    deliveries: count.describe(
      'Deliveries that were closed; one that was sent again and closed again counts again',
    ),
    attempts: count.describe('Attempts that these deliveries took'),
    counted_until: timeSchema.optional().describe('Everything before this time is counted'),
  })
  .meta({ id: 'Usage' });

/** Use of the service by account and month, for the operator. */
export function usageOperations({ database }: ApiDependencies): Operation[] {
  const named = (month: string, rows: readonly MonthlyUsage[]) =>
    withAccounts(
      database,
      rows.map((row) => ({ ...row, month })),
    );

  async function* csvOf(month: string) {
    yield `${COLUMNS.join(',')}\r\n`;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: MonthlyUsage[] = await database.usage.ofMonth(month, AT_ONCE, after);
      for (const { account, ...row } of await named(month, rows)) {
        const values = { ...row, account_id: account.id, account_name: account.name };
        yield `${COLUMNS.map((name) => csvField(values[name])).join(',')}\r\n`;
      }
      after = rows.at(-1)?.account_id;
    }
  }

  return [
    operation('get', '/installation/usage', 'listUsage', {
      summary: 'Count events, bytes, deliveries and attempts by account in a month (UTC)',
      ...OPERATORS,
      query: z.strictObject({
        ...pagingParameters,
        month: z
          .string()
          .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month, such as 2026-11')
          .optional()
          .describe('Absent: the present one'),
        format: z
          .enum(['json', 'csv'])
          .optional()
          .describe('csv: all accounts, as `Accept: text/csv` asks for, too'),
      }),
      responses: {
        200: {
          description: 'Accounts that have used the service, by id',
          schema: pageOf(usageSchema),
          csv: 'All accounts, a line each',
        },
      },
      async handle({ query: { limit, after, month = monthAndHour(sharedNow()).month, format } }, ctx) {
        const isCsv =
          format === 'csv' || (!format && ctx.accepts('application/json', 'text/csv') === 'text/csv');
        if (isCsv) {
          ctx.type = 'text/csv';
          ctx.attachment(`usage-${month}.csv`);
          return Readable.from(csvOf(month));
        }
        const rows = await database.usage.ofMonth(month, limit + 1, after);
        const shown = rows.slice(0, limit);
        const last = rows.length > limit ? shown.at(-1)?.account_id : undefined;
        const until = await database.usage.until();
        const counted = until && { counted_until: until.toISOString() };
        const data = (await named(month, shown)).map((row) => ({ ...row, ...counted }));
        return renderPage(ctx, { data, ...(last !== undefined && { after: last }) });
      },
    }),
  ];
}

/**
 * A field of CSV (RFC 4180). A name that a spreadsheet would take for a formula is quoted as text by an apostrophe.
 */
function csvField(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
