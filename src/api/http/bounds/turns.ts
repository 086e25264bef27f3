import type { Context } from '../context.js';

/**
 * A request with a larger body (bytes), or a longer query (characters), takes turns. An ordinary purchase is smaller.
 */
const TURNLESS = { body: 4_096, query: 512 };

/**
 * Lets large requests be parsed one in each round of the event loop, those of several owners by turns: what an owner
 * sends at once keeps the others waiting no longer than one of its requests takes.
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
    const goOn = own.shift();
    if (own.length > 0) this.waiting.set(owner, own);
    setImmediate(this.next);
    goOn?.();
  };
}

/** A process has one event loop. */
const turns = new Turns();

/** Waits for the turn of a request, if what is to be parsed of it is large. */
export async function takeTurn(ctx: Context, part: keyof typeof TURNLESS, size: number): Promise<void> {
  if (size > TURNLESS[part]) await turns.take(ownerOf(ctx));
}

/** The platform of the caller's account, or the account; the address of a caller without a token. */
function ownerOf({ state: { account, caller }, ip }: Context): string {
  return account?.platform_id ?? caller?.account_id ?? ip;
}
