import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { beginUse, endUse } from './connection-age.js';
import type { ExchangeTimings } from './exchange.js';

/** Where an exchange went, and where its time went. */
export class ExchangeTrace {
  /** The address connected to; absent until there is a connection. */
  address: string | undefined;
  /** Durations of the steps that have ended. A connection kept from an earlier exchange has no steps. */
  readonly timings: ExchangeTimings = {};
  /** Whether the exchange's name is being looked up. */
  isResolving = false;
  /** Whether the exchange has ended. */
  isOver = false;
  /** The account that it is for; absent: the installation. */
  readonly account: string | undefined;
  private readonly endsAt: number;
  private lastEnd = performance.now();
  private socket: Socket | undefined;

  /** @param timeoutMs how long the exchange may take, milliseconds */
  constructor(timeoutMs: number, account?: string) {
    this.account = account;
    this.endsAt = this.lastEnd + timeoutMs;
  }

  /** How long the exchange may still take, milliseconds. */
  get timeLeft(): number {
    return Math.max(0, this.endsAt - performance.now());
  }

  /** A step ends now. It began when the one before ended. */
  end(step: keyof ExchangeTimings): void {
    const now = performance.now();
    this.timings[step] = Math.round(now - this.lastEnd);
    this.lastEnd = now;
  }

  /** The request goes out on this connection. */
  sent(socket: Socket): void {
    this.address = beginUse(socket);
    this.lastEnd = performance.now();
    this.socket = socket;
  }

  /** The exchange is over. */
  over(): void {
    if (this.socket) endUse(this.socket);
    this.socket = undefined;
    this.isOver = true;
  }
}

/** The exchange for which code runs, such as making a connection. */
const exchanges = new AsyncLocalStorage<ExchangeTrace>();

/** Runs a request so that its trace is known wherever it leads. */
export function traced<T>(trace: ExchangeTrace, request: () => T): T {
  return exchanges.run(trace, request);
}

/**
 * The trace of the exchange for which a connection is made. It is over if an endpoint has closed a connection just when
 * the next exchange was to use it: undici makes that one a connection, and does so in the context of the former.
 */
export function currentTrace(): ExchangeTrace | undefined {
  return exchanges.getStore();
}

// undici says by a diagnostics channel, and in no other way, on which connection a request goes out (its documentation,
// "Diagnostics Channel Support"). It does so in the context in which the request was made.
subscribe('undici:client:sendHeaders', (message) => {
  exchanges.getStore()?.sent((message as { socket: Socket }).socket);
});
