/** How many requests are left in a window of time. */
export interface RateLimit {
  /** Name of the limit, such as `token-1m`. */
  name: string;
  quota: number;
  windowSeconds: number;
  left: number;
  /** When the next window begins, milliseconds since the epoch. */
  resetsAt: number;
}

const ITEM = /"([^"]+)";(\w)=(\d+);(\w)=(\d+)/g;

function readItems(header: string | null): Map<string, Record<string, number>> {
  const items = [...(header ?? '').matchAll(ITEM)].map(
    ([, name = '', first = '', value, second = '', other]) =>
      [name, { [first]: Number(value), [second]: Number(other) }] as const,
  );
  return new Map(items);
}

/** Limits that a response states: `RateLimit-Policy` and `RateLimit`. @param now milliseconds since the epoch */
export function readRateLimits(headers: Headers, now: number): RateLimit[] {
  const states = readItems(headers.get('ratelimit'));
  return [...readItems(headers.get('ratelimit-policy'))].flatMap(([name, { q = 0, w = 0 }]) => {
    const state = states.get(name);
    if (!state) return [];
    const { r: left = 0, t = 0 } = state;
    return [{ name, quota: q, windowSeconds: w, left, resetsAt: now + t * 1_000 }];
  });
}

const listeners = new Set<() => void>();
const known = new Map<string, RateLimit[]>();
const nameOf = (token: string, account: string) => `${token} ${account}`;

/** Keeps what the last answer said: limits are counted for each token and account that it acts for. */
export function noteRateLimits(token: string, account: string, headers: Headers): void {
  const limits = readRateLimits(headers, Date.now());
  if (limits.length === 0) return;
  known.set(nameOf(token, account), limits);
  for (const listener of listeners) listener();
}

/** @returns the same object until there is a newer one, as React asks of a store */
export function lastRateLimits(token: string, account: string): RateLimit[] | undefined {
  return known.get(nameOf(token, account));
}

/** Calls back at each answer that tells of limits. */
export function subscribeToRateLimits(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Forgets the tokens of sessions that have ended. */
export function forgetRateLimits(): void {
  known.clear();
}
