import { z } from 'zod';
import type { Database } from '../../../models/database.js';

/** Account of a row in the operator's lists. */
export const accountOfRowSchema = z.object({ id: z.string(), name: z.string() });

/** Common settings of operations over all accounts: they are the operator's, who acts for no account meanwhile. */
export const OPERATORS = { scope: 'admin', isAboutAccounts: true } as const;

/** Rows with the name of the account that each is of, in place of its id alone. */
export async function withAccounts<T extends { account_id: string }>(
  { accounts }: Pick<Database, 'accounts'>,
  rows: readonly T[],
) {
  const names = await accounts.names(rows.map(({ account_id }) => account_id));
  return rows.map(({ account_id: id, ...row }) => ({ ...row, account: { id, name: names.get(id) ?? '' } }));
}

export const endpointNameSchema = z
  .string()
  .optional()
  .describe('Name of the endpoint for people: its description, or its host; absent if it was deleted');

/** Rows with what people know the endpoint of each by. */
export async function withEndpoints<T extends { endpoint_id: string }>(
  { everyEndpoint }: Pick<Database, 'everyEndpoint'>,
  rows: readonly T[],
) {
  const names = await everyEndpoint.namesOf(rows.map(({ endpoint_id }) => endpoint_id));
  return rows.map((row) => {
    const endpoint_name = names.get(row.endpoint_id);
    return { ...row, ...(endpoint_name !== undefined && { endpoint_name }) };
  });
}
