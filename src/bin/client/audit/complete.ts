import { CommandError, type Values } from '../../command.js';
import { connection } from '../connection.js';
import { timeOf } from '../replay.js';
import { print } from '../terminal.js';

interface Range {
  first: number;
  last: number;
}

/** What `GET /sequence` answers. */
interface Completeness extends Partial<Range> {
  complete: boolean;
  event_count: number;
  void_count: number;
  open_count: number;
  open: Range[];
  missing_count: number;
  missing: Range[];
  contradicted_count: number;
  contradicted: Range[];
  detail?: string;
}

/** Asks the server whether events of a period are missing, and prints what it answers. @returns whether none is */
export async function askComplete({ from, to }: Values): Promise<boolean> {
  const { url, token, account } = await connection();
  const query = new URLSearchParams({
    ...(from !== undefined && { from: timeOf('from', String(from)) }),
    ...(to !== undefined && { to: timeOf('to', String(to)) }),
  });
  const response = await fetch(`${url}/v18.0/sequence?${query}`, {
    headers: {
      authorization: `Bearer ${await token()}`,
      ...(account !== undefined && { 'hookline-account': account }),
    },
  });
  const found = (await response.json()) as Completeness;
  if (!response.ok) throw new CommandError(found.detail ?? `The server answered ${response.status}.`);
  if (found.first === undefined) print('There are no events with a number.');
  else
    print(
      `Numbers ${found.first} to ${found.last}: ${found.event_count} events, ${found.void_count} void, ${found.open_count} open, ${found.missing_count} missing.`,
    );
  for (const [name, ranges] of [
    ['missing', found.missing],
    ['open', found.open],
    ['void, but an event has it:', found.contradicted],
  ] as const)
    for (const { first, last } of ranges) print(`${name}  ${first === last ? first : `${first} to ${last}`}`);
  return found.missing_count + found.contradicted_count === 0;
}
