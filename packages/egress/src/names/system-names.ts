import type { Resolver } from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { isLocalhost } from '../addresses/address-policy.js';
import { askForAddresses, createResolver } from './dns-query.js';
import { type ResolvedAddress, type ResolveName, UnresolvedNameError } from './name-answer.js';

/** Where the operating system says how names are resolved. The defaults are those of Unix. */
export interface SystemNamesOptions {
  hostsFile?: string;
  resolvFile?: string;
  /** Makes what asks the operating system's DNS servers; called again when `resolvFile` has changed. */
  makeResolver?: () => Resolver;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/**
 * Resolves as the operating system would: by `/etc/hosts`, then by its DNS servers, with the search domains of
 * `/etc/resolv.conf`, and heeds changes of both files. Sources that other modules of the name service switch add are
 * not asked: they can be had on two threads only, which all names would share.
 *
 * A name with a dot is asked for as it is before search domains are tried, whatever `ndots` says: names of endpoints
 * are complete nearly always, and each search domain costs two questions.
 */
export function systemNames(options: SystemNamesOptions = {}): ResolveName {
  const {
    hostsFile = '/etc/hosts',
    resolvFile = '/etc/resolv.conf',
    makeResolver = createResolver,
    now = () => performance.now(),
  } = options;
  const hosts = watchedFile(hostsFile, parseHosts, now);
  const readDns = (text: string) => ({ search: parseSearchDomains(text), resolver: makeResolver() });
  const dns = watchedFile(resolvFile, readDns, now);
  return async (hostname) => {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    const listed = hosts().get(name) ?? (isLocalhost(name) ? LOOPBACK : undefined);
    if (listed) return { addresses: listed };
    const { search, resolver } = dns();
    const longer = hostname.endsWith('.') ? [] : search.map((domain) => `${name}.${domain}`);
    const names = name.includes('.') ? [name, ...longer] : [...longer, name];
    let first: unknown;
    for (const candidate of names) {
      try {
        return await askForAddresses(resolver, candidate);
      } catch (error) {
        first ??= error;
        // A server that does not answer for the name would be asked again for each search domain.
        if (!(error instanceof UnresolvedNameError && error.isKnown)) break;
      }
    }
    throw first;
  };
}

const LOOPBACK: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The addresses of names in `/etc/hosts` (hosts(5)). */
export function parseHosts(text: string): ReadonlyMap<string, readonly ResolvedAddress[]> {
  const hosts = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    // One with a zone, such as fe80::1%lo0, which older systems have for localhost, leads to no endpoint.
    if (!family || address.includes('%')) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      const known = hosts.get(key) ?? [];
      if (known.every((other) => other.address !== address)) known.push({ address, family });
      hosts.set(key, known);
    }
  }
  return hosts;
}

/** The search domains in `/etc/resolv.conf` (resolv.conf(5)): of several lines the last one counts. */
export function parseSearchDomains(text: string): string[] {
  const line = text
    .split('\n')
    .map((each) => each.trim().split(/\s+/))
    .findLast(([keyword]) => keyword === 'search' || keyword === 'domain');
  return (line ?? []).slice(1).flatMap((domain) => domain.toLowerCase().replace(/\.$/, '') || []);
}

/** How long a file is taken for unchanged, milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/**
 * A small local file, parsed when it is needed first, and again once it has changed. One that is not there, or cannot
 * be read, is empty.
 */
function watchedFile<T>(path: string, parse: (text: string) => T, now: () => number): () => T {
  let parsed: { content: T; version: string } | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (parsed && now() - lookedAt < LOOK_AGAIN_MS) return parsed.content;
    lookedAt = now();
    const found = statSync(path, { throwIfNoEntry: false });
    const version = found ? `${found.ino} ${found.mtimeMs} ${found.size}` : 'absent';
    if (parsed?.version !== version) parsed = { content: parse(textOf(path)), version };
    return parsed.content;
  };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
