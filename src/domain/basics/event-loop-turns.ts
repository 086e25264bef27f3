/**
 * Lets a few act in each round of the event loop, those of several owners by turns: what an owner asks for at once
 * keeps the others waiting no longer than one of its acts takes. Queues of libraries wait for promises or for time;
 * none of them waits until the process has done what else there was to do.
 */
export class EventLoopTurns {
  private readonly perRound: number;
  /** How many may still act in this round. */
  private left: number;
  /** Those who wait, by owner; the owner whose turn is next comes first. */
  private readonly waiting = new Map<string, (() => void)[]>();

  constructor(perRound: number) {
    this.perRound = perRound;
    this.left = perRound;
  }

  /** Acts when it is the owner's turn: at once if there is one left in this round. */
  take(act: () => void, owner = ''): void {
    if (this.left === this.perRound) setImmediate(this.nextRound);
    if (this.left > 0) {
      this.left -= 1;
      act();
      return;
    }
    const own = this.waiting.get(owner);
    if (own) own.push(act);
    else this.waiting.set(owner, [act]);
  }

  private readonly nextRound = (): void => {
    const acts: (() => void)[] = [];
    for (let act = this.next(); act; act = acts.length < this.perRound ? this.next() : undefined)
      acts.push(act);
    this.left = this.perRound - acts.length;
    if (acts.length > 0) setImmediate(this.nextRound);
    for (const act of acts) act();
  };

  private next(): (() => void) | undefined {
    const [first] = this.waiting;
    if (!first) return undefined;
    const [owner, own] = first;
    this.waiting.delete(owner);
    const act = own.shift();
    if (own.length > 0) this.waiting.set(owner, own);
    return act;
  }
}
