import { EventLoopTurns } from '../../../domain/basics/event-loop-turns.js';
import type { Context } from '../context.js';

/**
 * A request with a larger body (bytes), or a longer query (characters), takes turns. An ordinary purchase is smaller.
 */
const TURNLESS = { body: 4_096, query: 512 };

/** Large requests are parsed one in each round of the event loop, of which a process has one. */
const turns = new EventLoopTurns(1);

/** Waits for the turn of a request, if what is to be parsed of it is large. */
export async function takeTurn(ctx: Context, part: keyof typeof TURNLESS, size: number): Promise<void> {
  if (size > TURNLESS[part]) await new Promise<void>((resolve) => turns.take(resolve, ownerOf(ctx)));
}

/** The platform of the caller's account, or the account; the address of a caller without a token. */
function ownerOf({ state: { account, caller }, ip }: Context): string {
  return account?.platform_id ?? caller?.account_id ?? ip;
}
