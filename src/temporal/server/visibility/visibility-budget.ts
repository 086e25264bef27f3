import { AsyncLocalStorage } from 'node:async_hooks';
import { asyncLocalStorage as activities } from '@temporalio/activity';
import pThrottle from 'p-throttle';
import { madeOnce } from '../../../domain/basics/bounded-memory.js';
import { type Asker, VisibilityTurns, type WaitingCall } from '../../../domain/ledger/visibility-turns.js';
import { VisibilityBusyError } from '../../errors.js';

/** Is told of calls that list or count. */
export interface VisibilityObserver {
  /** A call had its turn. @param seconds how long it waited for it */
  waited(kind: Asker['kind'], seconds: number): void;
  /** A call waited too long, and was not made. */
  refused(kind: Asker['kind']): void;
}

/** How long calls may wait, milliseconds. */
export interface VisibilityWaits {
  /** The first call of a request: what cannot begin soon had better come again. */
  firstMs: number;
  /**
   * All calls of a request together, from its beginning: the API gives up after eight seconds, and what comes later is
   * for nobody who waits.
   */
  requestMs: number;
  /** Less than 30 s, within which some activities must show that they get on. */
  machineMs: number;
}

const WAITS: VisibilityWaits = { firstMs: 3_000, requestMs: 6_000, machineMs: 20_000 };

/** Work of which calls are part: a request to the API, or a call by itself. */
interface Work {
  asker: Asker;
  /** When it began, as by `performance.now()`. */
  began: number;
  /** Whether one of its calls has been answered. */
  isUnderWay: boolean;
  /** Whether it has been answered. */
  isOver: boolean;
}

interface Call extends WaitingCall {
  /** Told whether its turn has come, or it has waited too long. */
  settle(mayGoOn: boolean): void;
}

/**
 * Makes the calls of a process that list or count executions, so many in a second, which is the room that a namespace
 * has for them (https://docs.temporal.io/cloud/limits#visibility-api-rate-limit). Those that wait go on in the order of
 * {@link VisibilityTurns}; those that wait too long are refused. Of equal ones of an account at most one is under way,
 * and one waits, whose answer all get that have asked since: so no answer is older than its question.
 */
export class VisibilityBudget {
  observer: VisibilityObserver | undefined;
  private readonly perSecond: number;
  private readonly waits: VisibilityWaits;
  private readonly requests = new AsyncLocalStorage<Work>();
  private readonly turns = new VisibilityTurns<Call>();
  private readonly stopping = new AbortController();
  private readonly pace: () => Promise<void>;
  private isServing = false;
  private readonly underWay = new Map<string, Promise<unknown>>();
  private readonly next = new Map<string, Promise<unknown>>();

  constructor(perSecond: number, waits = WAITS) {
    this.perSecond = perSecond;
    this.waits = waits;
    const { signal } = this.stopping;
    // In every second, not in each: a server that refills its bucket steadily would refuse the end of two bursts.
    this.pace = pThrottle({ limit: perSecond, interval: 1_000, strict: true, signal })(async () => {});
  }

  /** Does the work of a request: what it has listed and counted is for a person, in the name of this account. */
  async asPerson<T>(account: Omit<Asker, 'kind'>, answer: () => Promise<T>): Promise<T> {
    const work = workOf({ kind: 'person', ...account });
    try {
      return await this.requests.run(work, answer);
    } finally {
      work.isOver = true;
    }
  }

  /**
   * Makes a call when it is its turn.
   *
   * @param question the same for equal calls
   * @throws VisibilityBusyError if it has waited too long
   */
  async ask<T>(question: string, call: () => Promise<T>): Promise<T> {
    const work = this.currentWork();
    const { kind, account } = work.asker;
    const key = `${kind} ${account} ${question}`;
    const answer = () => madeOnce(this.next, key, () => this.answerNext(key, work, call)) as Promise<T>;
    const isOthers = this.next.has(key);
    try {
      return await answer();
    } catch (error) {
      // Who has asked before had less time.
      const mayAskAgain = isOthers && error instanceof VisibilityBusyError && this.limitOf(work) > 0;
      if (!mayAskAgain) throw error;
      return await answer();
    } finally {
      work.isUnderWay = true;
    }
  }

  /** No call is made any more. */
  stop(): void {
    this.stopping.abort();
  }

  /**
   * The request that is being answered. Each call of a machine is work of its own, and so is what a request has left
   * behind.
   *
   * @throws VisibilityBusyError if the request has taken too long already
   */
  private currentWork(): Work {
    const request = this.requests.getStore();
    if (!request) return workOf(currentMachine());
    if (performance.now() - request.began < this.waits.requestMs) return request;
    if (request.isOver) return workOf(currentMachine());
    this.observer?.refused(request.asker.kind);
    throw new VisibilityBusyError(this.perSecond);
  }

  private async answerNext<T>(key: string, work: Work, call: () => Promise<T>): Promise<T> {
    try {
      await this.underWay.get(key)?.catch(() => {});
      await this.turnOf(work);
    } finally {
      this.next.delete(key);
    }
    const answer = call();
    this.underWay.set(key, answer);
    try {
      return await answer;
    } finally {
      if (this.underWay.get(key) === answer) this.underWay.delete(key);
    }
  }

  private async turnOf(work: Work): Promise<void> {
    const { asker, began } = work;
    const askedAt = performance.now();
    const mayGoOn = await new Promise<boolean>((resolve) => {
      const call: Call = {
        ...{ asker, began },
        settle(isItsTurn) {
          clearTimeout(timer);
          resolve(isItsTurn);
        },
      };
      const timer = setTimeout(() => {
        this.turns.drop(call);
        resolve(false);
      }, this.limitOf(work));
      this.turns.add(call);
      if (!this.isServing) void this.serve();
    });
    if (!mayGoOn) {
      this.observer?.refused(asker.kind);
      throw new VisibilityBusyError(this.perSecond);
    }
    this.observer?.waited(asker.kind, (performance.now() - askedAt) / 1_000);
  }

  /** How long a call may still wait, milliseconds. */
  private limitOf({ asker, began, isUnderWay }: Work): number {
    const { firstMs, requestMs, machineMs } = this.waits;
    const ofPerson = isUnderWay ? requestMs : firstMs;
    const limit = asker.kind === 'machine' ? machineMs : ofPerson;
    return Math.max(began + limit - performance.now(), 0);
  }

  /** Lets those that wait go on one after the other; once it is stopped, tells them that they may not. */
  private async serve(): Promise<void> {
    const { signal } = this.stopping;
    this.isServing = true;
    while (this.turns.size > 0) {
      if (!signal.aborted) await this.pace().catch(() => {});
      this.turns.next()?.settle(!signal.aborted);
    }
    this.isServing = false;
  }
}

function workOf(asker: Asker): Work {
  return { asker, began: performance.now(), isUnderWay: false, isOver: false };
}

/**
 * An activity works for the account at the end of its workflow's id, or for all of its kind; everything else for this
 * process.
 */
function currentMachine(): Asker {
  const { info } = activities.getStore() ?? {};
  const account = info?.workflowExecution?.workflowId.split(':').at(-1);
  const name = account?.startsWith('acct_') ? account : (info?.workflowType ?? 'process');
  return { kind: 'machine', platform: name, account: name };
}
