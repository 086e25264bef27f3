import { setImmediate } from 'node:timers/promises';
import { valuesOf } from '../../../../packages/payload-contract/src/index.js';
import { type BusinessKey, keysInPayload } from '../../../domain/event/business-keys.js';
import type { Database } from '../../../models/database.js';
import { type ExtendedRow, ROW_EXTRAS } from '../../../temporal/read/delivery-reader.js';
import { listParameter } from '../../http/parameters.js';
import { newestSchema } from '../event-kinds/find-kind.js';

/** Fields that rows of a list of deliveries have only on request. */
export const includeParameter = listParameter(
  ROW_EXTRAS,
  'Further fields of each row: the latest attempt with the number of scheduled ones; the business keys in the payload',
);

type KeyedRow<T> = Omit<T, 'payload'> & { business_keys?: BusinessKey[] };

/** Rows with the business keys in their payloads, in place of these. @param accountOf whose each is */
export async function withBusinessKeys<T extends ExtendedRow>(
  database: Pick<Database, 'eventKinds'>,
  rows: readonly T[],
  accountOf: (row: T) => string,
): Promise<KeyedRow<T>[]> {
  const schemas = await Promise.all(
    rows.map((row) =>
      row.payload === undefined ? undefined : newestSchema(database, accountOf(row), row.event_kind),
    ),
  );
  const shown: KeyedRow<T>[] = [];
  for (const [at, { payload, ...row }] of rows.entries()) {
    const schema = schemas[at];
    const business_keys = schema && payload !== undefined ? keysInPayload(schema, valuesOf(payload)) : [];
    shown.push({ ...row, ...(business_keys.length > 0 && { business_keys }) });
    // Other requests have their turn between two payloads.
    if (payload !== undefined) await setImmediate();
  }
  return shown;
}
