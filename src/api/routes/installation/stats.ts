import { z } from 'zod';
import { UNITS } from '../../../domain/basics/duration.js';
import { backlogBy, backlogOf } from '../../../domain/stats/backlog.js';
import { arrivalQuantile, type MinuteRow, sumOfMinutes } from '../../../domain/stats/minute-count.js';
import { sharedNow } from '../../../domain/time/shared-time.js';
import { requireScope } from '../../http/caller/refusals.js';
import type { ApiDependencies } from '../../http/context.js';
import { type Operation, operation } from '../../http/operation.js';
import { timeSchema } from '../../http/schemas.js';
import { healthReports } from '../health.js';
import { backlogShape } from '../stats/stats-view.js';
import {
  accountOfRowSchema,
  endpointNameSchema,
  OPERATORS,
  withAccounts,
  withEndpoints,
} from './of-accounts.js';

/** Accounts, and endpoints, in one response: those with the largest backlogs. */
const MOST = 10;

const count = z.int().min(0);
const attemptsShape = { succeeded: count, failed: count };

const installationStatsSchema = z
  .object({
    as_of: timeSchema,
    open: z.object({
      ...backlogShape,
      exact: z.boolean().describe('false: there are more than are read at once'),
      by_account: z.array(z.object({ account: accountOfRowSchema, ...backlogShape })),
      by_endpoint: z.array(
        z.object({
          endpoint_id: z.string(),
          endpoint_name: endpointNameSchema,
          account: accountOfRowSchema,
          ...backlogShape,
        }),
      ),
    }),
    last_hour: z
      .object({
        attempts: z.object(attemptsShape),
        arrival_ms: z
          .object({ p50: count, p95: count })
          .optional()
          .describe(
            'From the acceptance of an event to its arrival, within half of it; absent if nothing arrived',
          ),
        by_minute: z
          .array(z.object({ from: timeSchema, ...attemptsShape }))
          .describe('Sixty minutes, oldest first; the last is under way'),
      })
      .describe('Attempts of workers, a few seconds late'),
    failing_endpoints: count
      .optional()
      .describe('Endpoints with an open incident; absent while Temporal is unavailable'),
    health: z
      .record(z.string(), z.enum(['ok', 'unavailable']))
      .describe('Readiness of the responding process, as in GET /readyz'),
  })
  .meta({ id: 'InstallationStats' });

/** Whether it is us or them: what waits, what is attempted, and whether the servers answer, over all accounts. */
export function installationStatsOperations({ backlog, database, ...health }: ApiDependencies): Operation[] {
  const report = healthReports(health);
  return [
    operation('get', '/installation/stats', 'getInstallationStats', {
      summary:
        'Counts over all accounts: open deliveries by account, attempts of the last hour, and reachable servers',
      ...OPERATORS,
      responses: { 200: { description: 'The counts', schema: installationStatsSchema } },
      async handle(_input, ctx) {
        requireScope(ctx, 'deliveries:read');
        const from = Math.floor(sharedNow() / UNITS.m) * UNITS.m - 59 * UNITS.m;
        const [open, minutes, failing_endpoints, ready] = await Promise.all([
          backlog.read({}),
          database.minutes.since(from),
          backlog.openIncidents(),
          report('/readyz'),
        ]);
        const { deliveries, overdueBefore } = open;
        const accounts = backlogBy(deliveries, overdueBefore, ({ account_id }) => account_id).slice(0, MOST);
        const endpoints = backlogBy(
          deliveries,
          overdueBefore,
          ({ account_id, endpoint_id }) => `${account_id} ${endpoint_id}`,
        ).slice(0, MOST);
        const ofEndpoints = endpoints.map(([key, of]) => {
          const [account_id = '', endpoint_id = ''] = key.split(' ');
          return { account_id, endpoint_id, ...of };
        });
        return {
          as_of: new Date(open.at).toISOString(),
          open: {
            ...backlogOf(deliveries, overdueBefore),
            exact: open.isComplete,
            by_account: await withAccounts(
              database,
              accounts.map(([account_id, of]) => ({ account_id, ...of })),
            ),
            by_endpoint: await withAccounts(database, await withEndpoints(database, ofEndpoints)),
          },
          last_hour: viewMinutes(minutes, from),
          failing_endpoints,
          health: (ready?.body as { checks?: Record<string, string> } | undefined)?.checks ?? {},
        };
      },
    }),
  ];
}

function viewMinutes(rows: readonly MinuteRow[], from: number) {
  const { succeeded, failed, arrivals } = sumOfMinutes(rows);
  const p50 = arrivalQuantile(arrivals, 0.5);
  const p95 = arrivalQuantile(arrivals, 0.95);
  const known = new Map(rows.map((row) => [row.minute, row]));
  return {
    attempts: { succeeded, failed },
    ...(p50 !== undefined && p95 !== undefined && { arrival_ms: { p50, p95 } }),
    by_minute: Array.from({ length: 60 }, (_, index) => {
      const minute = from + index * UNITS.m;
      const row = known.get(minute);
      const at = new Date(minute).toISOString();
      return { from: at, succeeded: row?.succeeded ?? 0, failed: row?.failed ?? 0 };
    }),
  };
}
