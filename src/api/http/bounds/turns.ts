import type { Context } from '../context.js';

/** A request with a larger body, or a longer query, takes turns: characters. An ordinary purchase is smaller. */
export const TURNLESS_BODY = 4_096;
export const TURNLESS_QUERY = 512;

/**
 * Lets large requests be parsed one in each round of the event loop, those of several owners by turns: what an owner sends at once keeps the
 * others waiting no longer than one of its requests takes.
 */
export class Turns {
  /** Those who wait, by owner; the owner whose turn is next comes first. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private isTaken = false;

  /** Resolves when it is the owner's turn: at once if nobody has had one in this round. */
  take(owner: string): Promise<void> {
    if (!this.isTaken) {
      this.isTaken = true;
      setImmediate(this.next);
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const own = this.waiting.get(owner);
      if (own) own.push(resolve);
      else this.waiting.set(owner, [resolve]);
    });
  }

  private readonly next = (): void => {
    const [first] = this.waiting;
    if (!first) {
      this.isTaken = false;
      return;
    }
    const [owner, own] = first;
    this.waiting.delete(owner);
    const [goOn, ...left] = own;
    if (left.length > 0) this.waiting.set(owner, left);
    setImmediate(this.next);
    goOn?.();
  };
}

/** A process has one event loop. */
const turns = new Turns();

/** Waits for the turn of a request whose body has been read, if it is large. @param length of the body, bytes */
export async function takeTurn(ctx: Context, length: number): Promise<void> {
  if (length > TURNLESS_BODY || ctx.querystring.length > TURNLESS_QUERY) await turns.take(ownerOf(ctx));
}

/** The platform of the caller's account, or the account; the address of a caller without a token. */
function ownerOf({ state: { account, caller }, ip }: Context): string {
  return account?.platform_id ?? caller?.account_id ?? ip;
}
