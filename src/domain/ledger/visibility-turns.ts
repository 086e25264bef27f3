import { type Owner, OwnerTurns } from '../access/owner-turns.js';

/**
 * Who has something listed or counted: a `person` by a request to the API, or a `machine`, which is everything else,
 * and whose account and platform are what it works for.
 */
export interface Asker extends Owner {
  kind: 'person' | 'machine';
}

/** A call that waits for its turn. */
export interface WaitingCall {
  asker: Asker;
  /** When the work began that the call is part of, such as a request. Milliseconds, by any clock. */
  began: number;
}

/** Machines have one turn in so many, at least, while people wait: deliveries depend on what they read. */
const MACHINES_TURN = 5;
/**
 * Decides which of the calls that wait is next. People come before machines, which have every fifth turn. Of each kind
 * their platforms and accounts take turns ({@link OwnerTurns}), and of an account the call whose work began first comes
 * first: what was begun is finished before the next is begun.
 */
export class VisibilityTurns<C extends WaitingCall> {
  private readonly waiting = { person: new OwnerTurns<C>(), machine: new OwnerTurns<C>() };
  private peopleInARow = 0;

  get size(): number {
    return this.waiting.person.size + this.waiting.machine.size;
  }

  add(call: C): void {
    this.waiting[call.asker.kind].add(call, call.asker, call.began);
  }

  /** Takes back a call that has had no turn. */
  drop(call: C): void {
    this.waiting[call.asker.kind].drop(call);
  }

  /** Takes the call whose turn it is. @returns `undefined` if none waits */
  next(): C | undefined {
    const { person, machine } = this.waiting;
    const isMachines = machine.size > 0 && (person.size === 0 || this.peopleInARow >= MACHINES_TURN - 1);
    const next = (isMachines ? machine : person).next();
    if (next) this.peopleInARow = isMachines ? 0 : this.peopleInARow + 1;
    return next?.item;
  }
}
