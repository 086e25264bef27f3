import { Resolver } from 'node:dns/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type NameAnswer,
  type ResolvedAddress,
  type ResolveName,
  UnresolvedNameError,
  type UnresolvedReason,
} from './name-answer.js';

/** How long the addresses of one family wait for those of the other, milliseconds (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 50;

/** The first question is repeated after this time, the later ones after twice as long each; milliseconds. */
const REPEAT_AFTER_MS = 1_000;
const TRIES = 4;

/**
 * The most addresses of a name in one family: each is checked at each connection, and no name that means well has so
 * many.
 */
const MAX_ADDRESSES = 64;

/** Names that c-ares, which Node.js uses, has for responses without an address. Everything else is a failure. */
const REASONS: Record<string, UnresolvedReason> = {
  ENOTFOUND: 'not_found',
  EBADNAME: 'not_found',
  ENODATA: 'no_addresses',
  ETIMEOUT: 'silent',
  ECONNREFUSED: 'silent',
  EREFUSED: 'refused',
};

/**
 * Asks DNS by c-ares, which waits for any number of answers at once, on no thread. Node.js asks the operating system
 * (`dns.lookup`) on two threads, so that two names whose servers are silent hold up all others.
 */
export function createResolver(servers: readonly string[] = []): Resolver {
  const resolver = new Resolver({ timeout: REPEAT_AFTER_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers([...servers]);
  return resolver;
}

/** Resolves with the DNS servers named, instead of the operating system's: `10.0.0.2` or `10.0.0.2:5353`. */
export function dnsServers(servers: readonly string[]): ResolveName {
  const resolver = createResolver(servers);
  return (hostname) => askForAddresses(resolver, hostname);
}

/**
 * Asks for the addresses of both families at once. Those of the one that answers first wait for the other only shortly,
 * so that a question that is never answered holds up nobody who has an address (RFC 8305, section 3).
 *
 * @throws UnresolvedNameError if neither has any
 */
export async function askForAddresses(resolver: Resolver, name: string): Promise<NameAnswer> {
  const come: FamilyAnswer[] = [];
  const asked = ([6, 4] as const).map(async (family) => {
    const answer = await askFamily(resolver, name, family);
    come.push(answer);
    return answer;
  });
  const all = Promise.all(asked);
  const first = await Promise.race(asked);
  const isEnough = first.addresses.length > 0;
  await (isEnough ? Promise.race([all, delay(RESOLUTION_DELAY_MS, undefined, { ref: false })]) : all);
  const answer = together(come);
  return come.length === asked.length ? answer : { ...answer, whole: all.then(together) };
}

/** Result of DNS for a name and one family of addresses. */
interface FamilyAnswer {
  family: number;
  addresses: ResolvedAddress[];
  ttlSeconds: number;
  reason?: UnresolvedReason;
}

async function askFamily(resolver: Resolver, name: string, family: 4 | 6): Promise<FamilyAnswer> {
  try {
    const records = await (family === 4
      ? resolver.resolve4(name, { ttl: true })
      : resolver.resolve6(name, { ttl: true }));
    if (records.length > MAX_ADDRESSES) return nothing(family, 'too_many');
    return {
      family,
      addresses: records.map(({ address }) => ({ address, family })),
      ttlSeconds: Math.min(...records.map(({ ttl }) => ttl)),
    };
  } catch (error) {
    return nothing(family, REASONS[String((error as NodeJS.ErrnoException).code)] ?? 'failed');
  }
}

const nothing = (family: number, reason: UnresolvedReason): FamilyAnswer => ({
  family,
  addresses: [],
  ttlSeconds: Number.POSITIVE_INFINITY,
  reason,
});

/** @throws UnresolvedNameError; a failure tells more than an answer without addresses, and IPv4 more than IPv6 */
function together(answers: readonly FamilyAnswer[]): NameAnswer {
  const sorted = answers.toSorted((one, other) => other.family - one.family);
  const addresses = sorted.flatMap((answer) => answer.addresses);
  if (addresses.length > 0)
    return { addresses, ttlMs: Math.min(...answers.map(({ ttlSeconds }) => ttlSeconds)) * 1_000 };
  const errors = sorted.toReversed().map(({ reason = 'no_addresses' }) => new UnresolvedNameError(reason));
  throw errors.find(({ isKnown }) => !isKnown) ?? errors[0] ?? new UnresolvedNameError('failed');
}
