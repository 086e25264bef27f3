import { LRUCache } from 'lru-cache';
import { roomFor } from '../basics/bounded-memory.js';

/**
 * Who has something listed or counted: a `person` by a request to the API, or a `machine`, which is everything else.
 */
export interface Asker {
  kind: 'person' | 'machine';
  /**
   * The platform that the account belongs to; the account itself if it belongs to none; of a machine what it works for.
   */
  platform: string;
  account: string;
}

/** A call that waits for its turn. */
export interface WaitingCall {
  asker: Asker;
  /** When the work began that the call is part of, such as a request. Milliseconds, by any clock. */
  began: number;
}

/** Machines have one turn in so many, at least, while people wait: deliveries depend on what they read. */
const MACHINES_TURN = 5;
/** Accounts and platforms of which it is remembered whose turn was last. */
const MAX_REMEMBERED = 20_000;

/**
 * Decides which of the calls that wait is next. People come before machines, which have every fifth turn. Of each kind
 * it is the platform whose turn is longest ago, of a platform's accounts alike, and of an account the call whose work
 * began first: what was begun is finished before the next is begun.
 */
export class VisibilityTurns<C extends WaitingCall> {
  private readonly waiting = { person: new Map<C, Keys>(), machine: new Map<C, Keys>() };
  /** The number of the last turn of a platform or an account. */
  private readonly last = new LRUCache<string, number>(roomFor(MAX_REMEMBERED));
  private turns = 0;
  private peopleInARow = 0;

  get size(): number {
    return this.waiting.person.size + this.waiting.machine.size;
  }

  add(call: C): void {
    this.waiting[call.asker.kind].set(call, keysOf(call));
  }

  /** Takes back a call that has had no turn. */
  drop(call: C): void {
    this.waiting[call.asker.kind].delete(call);
  }

  /** Takes the call whose turn it is. @returns `undefined` if none waits */
  next(): C | undefined {
    const { person, machine } = this.waiting;
    const isMachines = machine.size > 0 && (person.size === 0 || this.peopleInARow >= MACHINES_TURN - 1);
    const line = isMachines ? machine : person;
    let first: [C, Keys] | undefined;
    for (const one of line) if (!first || this.compare(one, first) < 0) first = one;
    if (!first) return undefined;
    const [call, keys] = first;
    line.delete(call);
    this.turns += 1;
    this.peopleInARow = isMachines ? 0 : this.peopleInARow + 1;
    for (const key of keys) this.last.set(key, this.turns);
    return call;
  }

  private compare(
    [a, [platformOfA, accountOfA]]: [C, Keys],
    [b, [platformOfB, accountOfB]]: [C, Keys],
  ): number {
    return (
      this.lastOf(platformOfA) - this.lastOf(platformOfB) ||
      this.lastOf(accountOfA) - this.lastOf(accountOfB) ||
      a.began - b.began
    );
  }

  private lastOf(key: string): number {
    return this.last.get(key) ?? 0;
  }
}

/** Under which it is remembered when a platform and an account had their turn. */
type Keys = [platform: string, account: string];

function keysOf({ asker: { kind, platform, account } }: WaitingCall): Keys {
  return [`${kind} platform ${platform}`, `${kind} account ${account}`];
}
