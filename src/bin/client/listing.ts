import type { Values } from '../command.js';
import { plain, print, printJson, style, table } from './terminal.js';

/** How the rows of a list are shown. */
interface Listing<Row> {
  /** Text if there is nothing, such as `No keys.`. */
  none: string;
  header: readonly string[];
  cells(row: Row): string[];
}

/** Shows a list: as a table for a person, or each row as it comes for a program. @param most rows */
export async function showList<Row extends object>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { json }: Values,
  { none, header, cells }: Listing<Row>,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const found: string[][] = [];
  for await (const row of rows) {
    if (json === true) printJson(row);
    found.push(cells(row));
    if (found.length >= most) break;
  }
  if (json !== true) print(found.length === 0 ? none : table(header, found));
}

/** Names and values, a line each; those without a value are left out. */
export function showFacts(facts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(facts))
    if (value) print(`${style('dim', name.padEnd(14))}${plain(value)}`);
}
