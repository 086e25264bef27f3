import { Pool } from 'undici';
import { requireSecretBox } from '../../src/bin/process/secrets.js';
import { loadSettings } from '../../src/config/load.js';
import type { AccountLimits } from '../../src/domain/access/account.js';
import { ACCOUNT_SCOPES, type Scope } from '../../src/domain/access/api-key.js';
import { OPERATOR } from '../../src/domain/change/change.js';
import { connectDatabase } from '../../src/models/database.js';
import type { BenchSystem } from '../support/system.js';

/** Something that a hostile tenant does for as long as it is let. */
export interface Attack {
  /** As the command line names it. */
  name: string;
  /** Description of the attack, in a line. */
  about: string;
  /** Settings of the service besides those of benchmarks. */
  environment?(): Promise<Record<string, string>> | Record<string, string>;
  /** A command before the service's, for an environment of its own; asked after `environment`. */
  wrapper?(): readonly string[];
  /** Whether this machine can do it. */
  isPossible?(): boolean;
  /** Host of the healthy tenant's endpoint; absent: 127.0.0.1. */
  tenantHost?: string;
  /** Does what comes before, such as registering; returns the attack itself. Told to stop, that begins nothing more. */
  prepare(target: Target): Promise<(stop: AbortSignal) => Promise<unknown>>;
  /** Removes what was left behind outside of the service. */
  clean?(): Promise<void>;
}

/** A rule that must hold whatever is tried; it is no matter of time. */
export interface Probe {
  name: string;
  about: string;
  environment?(): Promise<Record<string, string>>;
  /** Removes what was left behind outside of the service. */
  clean?(): Promise<void>;
  /** @returns what was seen; it begins with `FAILED` if the rule did not hold */
  run(target: Target): Promise<string>;
}

/** A service as an attacker sees it. */
export interface Target {
  system: BenchSystem;
  /** From the seed: 0 to 1. */
  random(): number;
  /** Responses that the attackers got. */
  answers: Answers;
  /** A hostile account, and a key of it. @param scopes of its key; those of an ordinary account by default */
  account(options?: { scopes?: readonly Scope[]; limits?: AccountLimits }): Promise<Hostile>;
}

/** Responses that attackers got, all together. */
export class Answers {
  readonly statuses = new Map<string, number>();
  largestBytes = 0;
  longestMs = 0;

  note(status: number | string, bytes: number, ms: number): void {
    this.statuses.set(String(status), (this.statuses.get(String(status)) ?? 0) + 1);
    this.largestBytes = Math.max(this.largestBytes, bytes);
    this.longestMs = Math.max(this.longestMs, ms);
  }

  toString(): string {
    const counts = [...this.statuses].sort().map(([status, count]) => `${count} × ${status}`);
    return `${counts.join(', ') || 'no request'}; largest answer ${this.largestBytes} bytes, longest ${Math.round(this.longestMs)} ms`;
  }
}

export interface HostileAnswer {
  status: number;
  text: string;
}

/** A hostile account. */
export class Hostile {
  readonly id: string;
  readonly key: string;
  readonly url: string;
  private readonly pool: Pool;
  private readonly answers: Answers;

  constructor({ id, key, url }: { id: string; key: string; url: string }, answers: Answers) {
    this.id = id;
    this.key = key;
    this.url = url;
    this.answers = answers;
    this.pool = new Pool(url, { connections: 64, pipelining: 1, headersTimeout: 60_000 });
  }

  /** A request with its key; a connection that is lost counts as an answer, by the code of its error. */
  async request(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object | string,
    headers: object = {},
  ): Promise<HostileAnswer> {
    const began = performance.now();
    try {
      const response = await this.pool.request({
        method,
        path,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.body.text();
      this.answers.note(response.statusCode, Buffer.byteLength(text), performance.now() - began);
      return { status: response.statusCode, text };
    } catch (error) {
      const code = (error as { code?: string }).code ?? 'lost';
      this.answers.note(code, 0, performance.now() - began);
      return { status: 0, text: code };
    }
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }
}

/** Does the same from several sides at once until it is told to stop. */
export async function insist(
  sides: number,
  stop: AbortSignal,
  act: (side: number) => Promise<unknown>,
): Promise<void> {
  await Promise.all(
    Array.from({ length: sides }, async (_, side) => {
      while (!stop.aborted) await act(side);
    }),
  );
}

/** Makes an account of a service past its API, with the limits and the scopes that an attack needs. */
export async function makeAccount(
  system: BenchSystem,
  answers: Answers,
  { scopes = ACCOUNT_SCOPES, limits }: { scopes?: readonly Scope[]; limits?: AccountLimits } = {},
): Promise<Hostile> {
  const box = requireSecretBox(loadSettings(system.environment));
  const database = await connectDatabase(system.environment['MONGODB_URI'] ?? '', { box });
  const { id } = await database.accounts.create('hostile', OPERATOR, limits ? { limits } : {});
  const { key } = await database.apiKeys.create(id, 'hostile', scopes, OPERATOR);
  await database.close();
  return new Hostile({ id, key, url: system.url }, answers);
}
