import type { Values } from '../../command.js';
import { client } from '../connection.js';
import { timeOf } from '../replay.js';
import { print } from '../terminal.js';

/** Asks the server whether events of a period are missing, and prints what it answers. @returns whether none is */
export async function askComplete({ from, to }: Values): Promise<boolean> {
  const hookline = await client();
  const query = {
    ...(from !== undefined && { from: timeOf('from', String(from)) }),
    ...(to !== undefined && { to: timeOf('to', String(to)) }),
  };
  const found = await hookline.get('/v18.0/sequence', { params: { query } });
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
