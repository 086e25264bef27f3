import { openCursor, sealCursor } from '../../domain/http/cursor-seal.js';
import type { Database } from '../../models/database.js';
import { InvalidCursorError } from '../../temporal/errors.js';
import type { Page } from '../../temporal/read/visibility/visibility.js';

/** The secret that cursors are sealed with. */
export const CURSOR_SECRET = 'cursors';

const secrets = new WeakMap<Database, Promise<string>>();

/**
 * A page of a list of the ledger. Its cursors are sealed, so only the list and the account that one was given for
 * take it.
 *
 * @param list its name
 * @param accountId of the caller
 * @param read reads the page that begins at a cursor of the ledger's
 * @throws InvalidCursorError if the cursor is not one of this list and account
 */
export async function ledgerPage<T>(
  database: Database,
  list: string,
  accountId: string,
  after: string | undefined,
  read: (after: string | undefined) => Promise<Page<T>>,
): Promise<Page<T>> {
  const secret = await secretOf(database);
  const place = cursorPlace(list, accountId);
  const cursor = after === undefined ? undefined : openCursor(secret, place, after);
  if (after !== undefined && cursor === undefined) throw new InvalidCursorError();
  const { data, after: next } = await read(cursor);
  return { data, ...(next !== undefined && { after: sealCursor(secret, place, next) }) };
}

/** Place for which a cursor is sealed. */
export function cursorPlace(list: string, accountId: string): string {
  return `${list}:${accountId}`;
}

function secretOf(database: Database): Promise<string> {
  const known = secrets.get(database) ?? database.installationSecrets.get(CURSOR_SECRET);
  secrets.set(database, known);
  known.catch(() => secrets.delete(database));
  return known;
}
