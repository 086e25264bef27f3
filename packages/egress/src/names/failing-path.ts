import { type Owner, OwnerTurns } from './owner-turns.js';

/**
 * Look-ups at once of names of which the last one failed: of all together, of a platform, and of an account. Each may
 * last for seconds, so an owner with many leaves room in which those of others begin at once.
 */
const FAILING_AT_ONCE = { all: 64, platform: 32, account: 16 } as const;

/** Look-ups of names that have failed, a few at a time; accounts and platforms take turns ({@link OwnerTurns}). */
export class FailingPath {
  private readonly waiting = new Map<string, () => Promise<void>>();
  private readonly turns = new OwnerTurns<string>();
  private readonly running: Owner[] = [];
  private added = 0;

  /** Looks a name up when it is an owner's turn. @param look never rejects */
  add(name: string, owner: Owner, look: () => Promise<void>): void {
    this.waiting.set(name, look);
    this.share(name, owner);
  }

  /** A name that waits, waits for this owner as well: it is looked up when it is the turn of one of them. */
  share(name: string, owner: Owner): void {
    if (!this.waiting.has(name)) return;
    this.added += 1;
    this.turns.add(name, owner, this.added);
    this.goOn();
  }

  /** Whether a name waits for its turn. */
  holds(name: string): boolean {
    return this.waiting.has(name);
  }

  private goOn(): void {
    while (this.running.length < FAILING_AT_ONCE.all) {
      const next = this.turns.next((owner) => this.mayGo(owner));
      const look = next && this.waiting.get(next.item);
      if (!look) return;
      this.waiting.delete(next.item);
      this.running.push(next.owner);
      void look().then(() => {
        this.running.splice(this.running.indexOf(next.owner), 1);
        this.goOn();
      });
    }
  }

  private mayGo({ account, platform }: Owner): boolean {
    const ofPlatform = this.running.filter((other) => other.platform === platform);
    const ofAccount = ofPlatform.filter((other) => other.account === account);
    return ofPlatform.length < FAILING_AT_ONCE.platform && ofAccount.length < FAILING_AT_ONCE.account;
  }
}
